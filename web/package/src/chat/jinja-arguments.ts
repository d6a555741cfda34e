/** Arguments of filters, tests and methods. Internal. */
import type { Limits } from './jinja-limits.js';
import { refuse, typeOf, type Callable, type Value } from './jinja-values.js';

/** What a filter or test works with. */
export interface Context {
  readonly limits: Limits;
  filter(name: string, value: Value, args: readonly Value[], named: ReadonlyMap<string, Value>): Value;
  test(name: string, value: Value, args: readonly Value[]): boolean;
}

type Run<T> = (value: T, args: readonly (Value | undefined)[], context: Context) => Value;

/** By the name, then those of the parameters. */
export type Table<T> = ReadonlyMap<string, { readonly parameters: readonly string[]; readonly run: Run<T> }>;

/** The keys are as "replace old new count". */
export function table<T>(entries: Readonly<Record<string, Run<T>>>): Table<T> {
  return new Map(
    Object.entries(entries).map(([key, run]) => {
      const [name = '', ...parameters] = key.split(' ');
      return [name, { parameters, run }];
    }),
  );
}

/** Arguments in the order of the parameters. */
export function ordered(
  name: string,
  parameters: readonly string[],
  args: readonly Value[],
  named: ReadonlyMap<string, Value>,
): (Value | undefined)[] {
  if (args.length > parameters.length)
    refuse(`${name}() takes at most ${parameters.length} arguments (${args.length} given)`);
  const all: (Value | undefined)[] = [...args];
  for (const [key, value] of named) {
    const at = parameters.indexOf(key);
    if (at < 0) refuse(`${name}() got an unexpected keyword argument '${key}'`);
    if (at < args.length) refuse(`${name}() got multiple values for argument '${key}'`);
    all[at] = value;
  }
  return all;
}

export function text(value: Value | undefined, what: string): string {
  return typeof value === 'string' ? value : refuse(`${what} must be a str, not ${describe(value)}`);
}

export function whole(value: Value | undefined, what: string): number {
  if (typeof value === 'boolean') return Number(value);
  return typeof value === 'number' ? value : refuse(`${what} must be an int, not ${describe(value)}`);
}

const describe = (value: Value | undefined): string => (value === undefined ? 'left out' : typeOf(value));

/** A function by its name and those of its parameters. */
export function callable(key: string, run: (args: readonly (Value | undefined)[]) => Value): [string, Callable] {
  const [name = '', ...parameters] = key.split(' ');
  return [name, (args, named) => run(ordered(name, parameters, args, named))];
}
