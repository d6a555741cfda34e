/** Numbers for people. Internal. */

export function formatBytes(bytes: number): string {
  const units = ['B', 'KB', 'MB', 'GB'];
  let value = bytes;
  let unit = 0;
  while (value >= 1000 && unit < units.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return `${unit === 0 ? value : value.toPrecision(3)} ${units[unit]}`;
}

export function formatCount(count: number): string {
  if (count < 1e6) return count.toLocaleString('en-US');
  return count < 1e9 ? `${(count / 1e6).toPrecision(3)} million` : `${(count / 1e9).toPrecision(3)} billion`;
}

export function formatRate(tokensPerSecond: number): string {
  return tokensPerSecond < 100 ? tokensPerSecond.toFixed(1) : Math.round(tokensPerSecond).toString();
}

export function formatThreads(threads: number): string {
  return `${threads} ${threads === 1 ? 'thread' : 'threads'}`;
}
