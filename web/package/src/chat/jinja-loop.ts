/** `loop` in the turn of a loop. Internal. */
import { Attributes, orUndefined, refuse, type Value } from './jinja-values.js';

export function loopOf(items: readonly Value[], i: number, depth: number): Attributes {
  const neighbour = (at: number): Value => orUndefined(items[at], 'there is no such item');
  return new Attributes('LoopContext', (name) => {
    switch (name) {
      case 'index':
        return i + 1;
      case 'index0':
        return i;
      case 'revindex':
        return items.length - i;
      case 'revindex0':
        return items.length - i - 1;
      case 'first':
        return i === 0;
      case 'last':
        return i === items.length - 1;
      case 'length':
        return items.length;
      case 'depth':
        return depth;
      case 'depth0':
        return depth - 1;
      case 'previtem':
        return neighbour(i - 1);
      case 'nextitem':
        return neighbour(i + 1);
      case 'cycle':
        return (args) => (args.length > 0 ? (args[i % args.length] as Value) : refuse('no items for cycling given'));
      default:
        return undefined;
    }
  });
}
