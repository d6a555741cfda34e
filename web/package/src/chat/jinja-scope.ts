/** Variables by name. Internal. */
import { Undefined, type Value } from './jinja-values.js';

export interface Scope {
  readonly variables: Map<string, Value>;
  readonly parent: Scope | undefined;
  /** Loops around it. */
  readonly loops: number;
}

const CONSTANTS = new Map<string, Value>([
  ...['none', 'None'].map((name) => [name, null] as const),
  ...['true', 'True'].map((name) => [name, true] as const),
  ...['false', 'False'].map((name) => [name, false] as const),
]);

export function lookUp(name: string, scope: Scope): Value {
  const constant = CONSTANTS.get(name);
  if (constant !== undefined) return constant;
  for (let at: Scope | undefined = scope; at !== undefined; at = at.parent) {
    const value = at.variables.get(name);
    if (value !== undefined) return value;
  }
  return new Undefined(`'${name}' is undefined`);
}
