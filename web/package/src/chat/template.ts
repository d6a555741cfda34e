/** Chat templates: Jinja, rendered as transformers renders them. Internal. */
import { KvasirError, type ErrorCode } from '../errors.js';
import type { ChatMessage, ChatTemplateOptions } from '../types.js';
import { strftime } from './strftime.js';

/** What a template may read beside the chat. */
export interface TemplateTokens {
  readonly bosToken: string;
  readonly eosToken: string;
}

/** What is used of the library, whose types do not resolve in modules. */
interface Jinja {
  tokenize(text: string, options: { readonly lstrip_blocks: boolean; readonly trim_blocks: boolean }): unknown;
  parse(tokens: unknown): unknown;
  readonly Environment: new () => { set(name: string, value: unknown): void };
  readonly Interpreter: new (environment: unknown) => {
    run(program: unknown): { readonly value: unknown };
    evaluate(statement: unknown, environment: unknown): unknown;
    renderBlock(statements: unknown, environment: unknown): unknown;
  };
}

/** What a template may compute: a chat takes thousands of steps, and a page stands still meanwhile. */
const MOST_STEPS = 2_000_000;
const LONGEST_RANGE = 100_000;
/** Marks the end of the message that is to be continued. */
const CONTINUE_MARK = 'CONTINUE_FINAL_MESSAGE_TAG ';

export async function renderChat(
  text: string,
  isCallers: boolean,
  messages: readonly ChatMessage[],
  options: ChatTemplateOptions,
  tokens: TemplateTokens,
): Promise<string> {
  const continued = options.continueFinalMessage === true;
  const variables = {
    ...options.variables,
    messages: continued ? marked(messages) : messages,
    tools: options.tools ?? null,
    documents: options.documents ?? null,
    add_generation_prompt: continued ? false : (options.addGenerationPrompt ?? true),
    bos_token: tokens.bosToken,
    eos_token: tokens.eosToken,
  };
  const rendered = await render(text, isCallers, variables);
  return continued ? upToMark(rendered) : rendered;
}

async function render(text: string, isCallers: boolean, variables: Record<string, unknown>): Promise<string> {
  const jinja = (await import('@huggingface/jinja')) as unknown as Jinja;
  const program = attempt(isCallers ? 'INVALID_ARGUMENT' : 'MALFORMED_FILE', () =>
    jinja.parse(jinja.tokenize(text, { lstrip_blocks: true, trim_blocks: true })),
  );
  return attempt('INVALID_ARGUMENT', () => {
    const environment = new jinja.Environment();
    // A copy: a template can change what it is given.
    for (const [name, value] of Object.entries({ ...structuredClone(variables), ...GLOBALS })) {
      environment.set(name, value);
    }
    let steps = 0;
    const count = (): void => {
      if (++steps > MOST_STEPS) throw new Error('it does not come to an end');
    };
    const Bounded = class extends jinja.Interpreter {
      override evaluate(statement: unknown, environment: unknown): unknown {
        count();
        return super.evaluate(statement, environment);
      }
      // Once for each turn of a loop, which may hold nothing to evaluate.
      override renderBlock(statements: unknown, environment: unknown): unknown {
        count();
        return super.renderBlock(statements, environment);
      }
    };
    return String(new Bounded(environment).run(program).value);
  });
}

function attempt<T>(code: ErrorCode, work: () => T): T {
  try {
    return work();
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw new KvasirError(code, `chat template: ${message}`, { cause: error });
  }
}

/** What transformers gives every template. */
const GLOBALS = {
  true: true,
  false: false,
  none: null,
  True: true,
  False: false,
  None: null,
  range: boundedRange,
  raise_exception: (message: unknown): never => {
    throw new Error(String(message));
  },
  strftime_now: (format: string) => strftime(new Date(), format),
};

function boundedRange(start: number, stop?: number, step = 1): number[] {
  const [from, to] = stop === undefined ? [0, start] : [start, stop];
  const count = Math.max(0, Math.ceil((to - from) / step));
  // A step of 0 is NaN or infinitely many.
  if (!(count <= LONGEST_RANGE)) throw new Error(`range() gives at most ${LONGEST_RANGE} numbers`);
  return Array.from({ length: count }, (_, i) => from + i * step);
}

function marked(messages: readonly ChatMessage[]): readonly ChatMessage[] {
  const last = messages.at(-1);
  if (last === undefined || typeof last.content !== 'string') {
    throw new KvasirError('INVALID_ARGUMENT', 'continueFinalMessage needs a last message whose content is a text');
  }
  return [...messages.slice(0, -1), { ...last, content: last.content + CONTINUE_MARK }];
}

/** The text before the mark; where the template trimmed the message, the white space before it goes too. */
function upToMark(rendered: string): string {
  const at = rendered.lastIndexOf(CONTINUE_MARK.trim());
  if (at < 0) {
    throw new KvasirError(
      'INVALID_ARGUMENT',
      'chat template: it leaves out the last message, which was to be continued',
    );
  }
  const text = rendered.slice(0, at);
  return rendered.startsWith(CONTINUE_MARK, at) ? text : text.trimEnd();
}
