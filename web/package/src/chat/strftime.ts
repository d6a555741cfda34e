/** Dates as templates write them. Internal. */

const MONTHS = 'January February March April May June July August September October November December'.split(' ');
const DAYS = 'Sunday Monday Tuesday Wednesday Thursday Friday Saturday'.split(' ');

/** The directives of C's strftime that name parts of a date or time, in the C locale; others stay as they are. */
export function strftime(date: Date, format: string): string {
  return format.replace(/%(-?)([a-zA-Z%])/g, (directive, dash: string, letter: string) => {
    const text = part(date, letter);
    if (text === undefined) return directive;
    return dash === '' ? text : text.replace(/^0+(?=\d)/, '');
  });
}

function part(date: Date, letter: string): string | undefined {
  const [month, day] = [MONTHS[date.getMonth()] ?? '', DAYS[date.getDay()] ?? ''];
  const two = (value: number): string => String(value).padStart(2, '0');
  switch (letter) {
    case 'Y':
      return String(date.getFullYear());
    case 'y':
      return two(date.getFullYear() % 100);
    case 'm':
      return two(date.getMonth() + 1);
    case 'B':
      return month;
    case 'b':
      return month.slice(0, 3);
    case 'd':
      return two(date.getDate());
    case 'A':
      return day;
    case 'a':
      return day.slice(0, 3);
    case 'H':
      return two(date.getHours());
    case 'I':
      return two(date.getHours() % 12 || 12);
    case 'p':
      return date.getHours() < 12 ? 'AM' : 'PM';
    case 'M':
      return two(date.getMinutes());
    case 'S':
      return two(date.getSeconds());
    case 'F':
      return strftime(date, '%Y-%m-%d');
    case 'T':
      return strftime(date, '%H:%M:%S');
    case '%':
      return '%';
    default:
      return undefined;
  }
}
