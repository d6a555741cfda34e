/**
 * Renders Jinja templates as Jinja2 does in transformers' sandbox, of what chat templates use; the rest is refused. The
 * library parses them. Its interpreter is not used: it knows JavaScript's values and not Python's, and has no limits.
 * Internal.
 */
import type { Context } from './jinja-arguments.js';
import { applyFilter, itemOf } from './jinja-filters.js';
import { Limits } from './jinja-limits.js';
import { loopOf } from './jinja-loop.js';
import { methodOf } from './jinja-methods.js';
import { asNumber, binary, integer } from './jinja-operators.js';
import { lookUp, type Scope } from './jinja-scope.js';
import { readSource, SCOPE, TEST, TEST_NOT, type Token } from './jinja-source.js';
import { applyTest } from './jinja-tests.js';
import { str } from './jinja-text.js';
import {
  Attributes,
  Dict,
  Float,
  iterate,
  list,
  orUndefined,
  refuse,
  Sequence,
  slice,
  truth,
  typeOf,
  Undefined,
  type Callable,
  type Value,
} from './jinja-values.js';

/** A part of a template, as the library's parser gives it: what is there depends on the type. */
interface Node {
  readonly type: string;
  readonly value: unknown;
  readonly body: readonly Node[];
  readonly [key: string]: unknown;
}

/** What is used of the library, whose types do not resolve in modules. */
interface Library {
  tokenize(text: string): Token[];
  parse(tokens: readonly Token[]): Node;
}

export interface Template {
  readonly body: readonly Node[];
}

/** @throws what the library throws for what is no Jinja. */
export async function parseTemplate(text: string): Promise<() => Template> {
  const { tokenize, parse } = (await import('@huggingface/jinja')) as unknown as Library;
  return () => parse(readSource(text, (tag) => tokenize(tag)));
}

export function renderTemplate(template: Template, variables: ReadonlyMap<string, Value>): string {
  const output: Output = { text: '' };
  new Renderer().block(template.body, { variables: new Map(variables), parent: undefined, loops: 0 }, output);
  return output.text;
}

interface Output {
  text: string;
}

/** Thrown to leave a turn of a loop; what it wrote stays. */
class LoopControl extends Error {
  constructor(readonly type: string) {
    super(`{% ${type.toLowerCase()} %} is not in a loop`);
  }
}

class Renderer implements Context {
  readonly limits = new Limits();

  filter(name: string, value: Value, args: readonly Value[], named: ReadonlyMap<string, Value>): Value {
    return applyFilter(name, value, args, named, this);
  }

  test(name: string, value: Value, args: readonly Value[]): boolean {
    return applyTest(name, value, args, this.limits);
  }

  block(nodes: readonly Node[], scope: Scope, output: Output): void {
    this.limits.step();
    for (const node of nodes) this.#statement(node, scope, output);
  }

  #statement(node: Node, scope: Scope, output: Output): void {
    switch (node.type) {
      case 'Comment':
        return;
      case 'If': {
        const branch = truth(this.#value(node['test'], scope)) ? node.body : node['alternate'];
        return this.block(branch as readonly Node[], scope, output);
      }
      case 'For':
        return this.#loop(node, scope, output);
      case 'Set':
        return this.#set(node, scope);
      case 'Macro': {
        const { value } = node['name'] as Node;
        const macro = this.#macro(String(value), node['args'] as Node[], node.body, scope);
        scope.variables.set(String(value), macro);
        return;
      }
      case 'CallStatement': {
        const { callee, args } = node['call'] as Node;
        const caller = this.#macro('caller', (node['callerArgs'] ?? []) as Node[], node.body, scope);
        const [positional, named] = this.#arguments(args, scope);
        return this.#write(this.#call(this.#value(callee, scope), positional, named.set('caller', caller)), output);
      }
      case 'FilterStatement':
        return this.#filterBlock(node, scope, output);
      case 'Break':
      case 'Continue':
        throw new LoopControl(node.type);
      default:
        return this.#write(this.#value(node, scope), output);
    }
  }

  #write(value: Value, output: Output): void {
    const text = str(value, this.limits);
    this.limits.text(text.length, output.text.length + text.length);
    output.text += text;
  }

  #captured(nodes: readonly Node[], scope: Scope): string {
    const output: Output = { text: '' };
    this.block(nodes, scope, output);
    return output.text;
  }

  #inner(parent: Scope, loops = parent.loops): Scope {
    return { variables: new Map(), parent, loops };
  }

  #loop(node: Node, scope: Scope, output: Output): void {
    const iterable = node['iterable'] as Node;
    const isChosen = iterable.type === 'SelectExpression';
    const target = node['loopvar'] as Node;
    const all = iterate(this.#value(isChosen ? iterable['lhs'] : iterable, scope), this.limits);
    const turn = (item: Value): Scope => {
      const inner = this.#inner(scope, scope.loops + 1);
      this.#assign(target, item, inner);
      return inner;
    };
    const items = isChosen ? all.filter((item) => truth(this.#value(iterable['test'], turn(item)))) : [...all];
    let isComplete = false;
    for (const [i, item] of items.entries()) {
      const inner = turn(item);
      inner.variables.set('loop', loopOf(items, i, inner.loops));
      try {
        this.block(node.body, inner, output);
        isComplete = true;
      } catch (error) {
        if (!(error instanceof LoopControl)) throw error;
        if (error.type === 'Break') break;
      }
    }
    // Jinja2 takes turns that were left for none.
    if (!isComplete) this.block(node['defaultBlock'] as readonly Node[], this.#inner(scope), output);
  }

  #set(node: Node, scope: Scope): void {
    const assignee = node['assignee'] as Node;
    if (node.value !== null) return this.#assign(assignee, this.#value(node.value, scope), scope);
    const text = this.#captured(node.body, this.#inner(scope));
    if (assignee.type !== 'FilterExpression') return this.#assign(assignee, text, scope);
    let [target, filters] = [assignee, [] as Node[]];
    for (; target.type === 'FilterExpression'; target = target['operand'] as Node) filters = [target, ...filters];
    const filtered = filters.reduce<Value>((value, { filter }) => this.#filtered(value, filter as Node, scope), text);
    this.#assign(target, filtered, scope);
  }

  #assign(target: Node, value: Value, scope: Scope): void {
    if (target.type === 'Identifier') {
      scope.variables.set(String(target.value), value);
    } else if (target.type === 'TupleLiteral') {
      const targets = target.value as readonly Node[];
      const values = iterate(value, this.limits);
      if (values.length > targets.length) refuse(`too many values to unpack (expected ${targets.length})`);
      if (values.length < targets.length) {
        refuse(`not enough values to unpack (expected ${targets.length}, got ${values.length})`);
      }
      targets.forEach((inner, i) => this.#assign(inner, values[i] ?? null, scope));
    } else if (target.type === 'MemberExpression' && target['computed'] !== true) {
      const object = this.#value(target['object'], scope);
      if (!(object instanceof Attributes && object.set))
        return refuse('cannot assign attribute on non-namespace object');
      object.set(String((target['property'] as Node).value), value);
    } else {
      refuse('what is set must be a name, names or an attribute of a namespace');
    }
  }

  #macro(name: string, parameters: readonly Node[], body: readonly Node[], scope: Scope): Callable {
    const names = parameters.map((node) =>
      String(node.type === 'Identifier' ? node.value : (node['key'] as Node).value),
    );
    // It keeps the variables around it.
    this.limits.list(12);
    const isRead = (special: string): boolean => !names.includes(special) && mentions(body, special);
    const [takesMore, takesNamed, takesCaller] = ['varargs', 'kwargs', 'caller'].map(isRead);
    return (args, named) => {
      const inner = this.#inner(scope);
      const others = new Map(named);
      names.forEach((parameter, i) => {
        const isGiven = others.has(parameter) && i >= args.length;
        const value = isGiven ? others.get(parameter) : args[i];
        if (isGiven) others.delete(parameter);
        inner.variables.set(parameter, orUndefined(value, `parameter '${parameter}' was not provided`));
        const otherwise = parameters[i];
        if (value === undefined && otherwise?.type === 'KeywordArgumentExpression') {
          inner.variables.set(parameter, this.#value(otherwise.value, inner));
        }
      });
      if (takesCaller === true) {
        inner.variables.set('caller', orUndefined(others.get('caller'), 'No caller defined'));
        others.delete('caller');
      }
      if (takesNamed === true) {
        const dict = new Dict();
        for (const [key, value] of others) dict.set(key, value);
        inner.variables.set('kwargs', dict);
      } else if (others.size > 0) {
        refuse(`macro '${name}' takes no keyword argument '${others.keys().next().value}'`);
      }
      if (takesMore === true) inner.variables.set('varargs', new Sequence('tuple', args.slice(names.length)));
      else if (args.length > names.length) refuse(`macro '${name}' takes not more than ${names.length} argument(s)`);
      return this.#captured(body, inner);
    };
  }

  #filterBlock(node: Node, scope: Scope, output: Output): void {
    const filter = node['filter'] as Node;
    const name = String((filter.type === 'CallExpression' ? (filter['callee'] as Node) : filter).value);
    const inner = this.#inner(scope);
    if (name !== SCOPE) return this.#write(this.#filtered(this.#captured(node.body, inner), filter, scope), output);
    const [positional, named] = this.#arguments(filter['args'] ?? [], scope);
    if (positional.length > 0) refuse('{% with %} takes names and values, as {% with a = 1 %}');
    for (const [key, value] of named) inner.variables.set(key, value);
    this.block(node.body, inner, output);
  }

  #filtered(value: Value, filter: Node, scope: Scope): Value {
    const isCall = filter.type === 'CallExpression';
    const name = (isCall ? (filter['callee'] as Node) : filter).value;
    if (typeof name !== 'string') return refuse('a filter is named');
    const [args, named] = this.#arguments(isCall ? filter['args'] : [], scope);
    for (const prefix of [TEST_NOT, TEST]) {
      if (!name.startsWith(prefix)) continue;
      if (named.size > 0) refuse('tests take no keyword arguments');
      return this.test(name.slice(prefix.length), value, args) === (prefix === TEST);
    }
    return this.filter(name, value, args, named);
  }

  #arguments(nodes: unknown, scope: Scope): [Value[], Map<string, Value>] {
    const [args, named] = [[] as Value[], new Map<string, Value>()];
    const name = (key: Value, value: Value): void => {
      if (typeof key !== 'string') refuse('keywords must be strings');
      if (named.has(String(key))) refuse(`got multiple values for keyword argument '${String(key)}'`);
      named.set(String(key), value);
    };
    for (const node of nodes as readonly Node[]) {
      if (node.type === 'KeywordArgumentExpression') {
        name(String((node['key'] as Node).value), this.#value(node.value, scope));
      } else if (node.type === 'SpreadExpression') {
        const items = iterate(this.#value(node['argument'], scope), this.limits);
        this.limits.list(items.length);
        for (const item of items) args.push(item);
      } else if (node.type === 'KeywordSpreadExpression') {
        const dict = this.#value(node['argument'], scope);
        if (!(dict instanceof Dict)) return refuse(`argument after ** must be a mapping, not ${typeOf(dict)}`);
        for (const [key, value] of dict.map.values()) name(key, value);
      } else {
        args.push(this.#value(node, scope));
      }
    }
    return [args, named];
  }

  #call(callee: Value, args: readonly Value[], named: ReadonlyMap<string, Value>): Value {
    if (callee instanceof Undefined) refuse(callee.why);
    if (typeof callee !== 'function') return refuse(`'${typeOf(callee)}' object is not callable`);
    this.limits.list(8);
    return callee(args, named, this.limits);
  }

  /** Of an expression. */
  #value(expression: unknown, scope: Scope): Value {
    this.limits.step();
    const node = expression as Node;
    switch (node.type) {
      case 'Identifier':
        return lookUp(String(node.value), scope);
      case 'StringLiteral':
        return String(node.value);
      case 'IntegerLiteral':
        return integer(Number(node.value));
      case 'FloatLiteral':
        return new Float(Number(node.value));
      case 'ArrayLiteral':
      case 'TupleLiteral': {
        const items = (node.value as readonly Node[]).map((item) => this.#value(item, scope));
        this.limits.list(items.length + 1);
        return node.type === 'ArrayLiteral' ? list(items) : new Sequence('tuple', items);
      }
      case 'ObjectLiteral': {
        const dict = new Dict();
        for (const [key, value] of node.value as ReadonlyMap<Node, Node>) {
          dict.set(this.#value(key, scope), this.#value(value, scope));
        }
        this.limits.list(4 * dict.map.size + 8);
        return dict;
      }
      case 'BinaryExpression':
        return this.#binary(node, scope);
      case 'UnaryExpression':
        return this.#unary(String((node['operator'] as Token).value), this.#value(node['argument'], scope));
      case 'Ternary':
        return this.#value(truth(this.#value(node['condition'], scope)) ? node['trueExpr'] : node['falseExpr'], scope);
      case 'SelectExpression':
        return truth(this.#value(node['test'], scope))
          ? this.#value(node['lhs'], scope)
          : new Undefined('the inline if-expression evaluated to false and no else section was defined.');
      case 'FilterExpression':
        return this.#filtered(this.#value(node['operand'], scope), node['filter'] as Node, scope);
      case 'MemberExpression':
        return this.#member(node, scope);
      case 'CallExpression': {
        const callee = this.#value(node['callee'], scope);
        const [args, named] = this.#arguments(node['args'], scope);
        return this.#call(callee, args, named);
      }
      default:
        return refuse(`${node.type} is not supported here`);
    }
  }

  #binary(node: Node, scope: Scope): Value {
    const operator = String((node['operator'] as Token).value);
    const left = this.#value(node['left'], scope);
    if (operator === 'and') return truth(left) ? this.#value(node['right'], scope) : left;
    if (operator === 'or') return truth(left) ? left : this.#value(node['right'], scope);
    return binary(operator, left, this.#value(node['right'], scope), this.limits);
  }

  #unary(operator: string, value: Value): Value {
    if (operator === 'not') return !truth(value);
    if (value instanceof Undefined) refuse(value.why);
    const number = asNumber(value) ?? refuse(`bad operand type for unary ${operator}: '${typeOf(value)}'`);
    const result = operator === '-' ? -number : number;
    return value instanceof Float ? new Float(result) : integer(result);
  }

  #member(node: Node, scope: Scope): Value {
    const object = this.#value(node['object'], scope);
    if (object instanceof Undefined) refuse(object.why);
    const property = node['property'] as Node;
    if (property.type === 'SliceExpression') {
      const bounds = ['start', 'stop', 'step'].map((name) =>
        property[name] === undefined ? null : this.#value(property[name], scope),
      );
      return slice(object, bounds, this.limits);
    }
    const isName = node['computed'] !== true && property.type === 'Identifier';
    const key = isName ? String(property.value) : this.#value(property, scope);
    const item = (): Value | undefined => itemOf(object, key, this.limits);
    const attribute = (): Value | undefined => {
      if (typeof key !== 'string') return undefined;
      return object instanceof Attributes ? object.get(key) : methodOf(object, key, this);
    };
    // A method comes before a key of its name after a dot, and behind it in brackets.
    const [first, second] = isName ? [attribute, item] : [item, attribute];
    const found = first();
    return orUndefined(found === undefined ? second() : found, describeMissing(object, key));
  }
}

function describeMissing(object: Value, key: Value): string {
  const owner = object === null ? 'None' : `'${typeOf(object)} object'`;
  return `${owner} has no ${typeof key === 'string' ? `attribute '${key}'` : 'such element'}`;
}

/** Whether a name is read anywhere in there. */
function mentions(part: unknown, name: string): boolean {
  if (Array.isArray(part)) return part.some((item) => mentions(item, name));
  if (part instanceof Map) return mentions([...part].flat(), name);
  if (typeof part !== 'object' || part === null) return false;
  const node = part as Node;
  return (node.type === 'Identifier' && node.value === name) || mentions(Object.values(node), name);
}
