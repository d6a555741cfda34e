/** Chat templates: Jinja, rendered as transformers renders them. Internal. */
import { KvasirError, type ErrorCode } from '../errors.js';
import type { ChatMessage, ChatTemplateOptions } from '../types.js';
import { GLOBALS } from './jinja-globals.js';
import { fromJs } from './jinja-values.js';
import { parseTemplate, renderTemplate } from './jinja.js';

/** What a template may read beside the chat. */
export interface TemplateTokens {
  readonly bosToken: string;
  readonly eosToken: string;
}

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
  const parse = await parseTemplate(text);
  const template = attempt(isCallers ? 'INVALID_ARGUMENT' : 'MALFORMED_FILE', () => {
    try {
      return parse();
    } catch (error) {
      // The library reads on where there is nothing left.
      throw error instanceof TypeError ? new Error('it ends in the middle', { cause: error }) : error;
    }
  });
  return attempt('INVALID_ARGUMENT', () => {
    const values = Object.entries(variables).map(([name, value]) => [name, fromJs(value)] as const);
    return renderTemplate(template, new Map([...GLOBALS, ...values]));
  });
}

function attempt<T>(code: ErrorCode, work: () => T): T {
  try {
    return work();
  } catch (error) {
    // The engine's own says that the stack is full.
    const message = error instanceof RangeError ? 'it is nested too deeply' : (error as Error).message;
    throw new KvasirError(code, `chat template: ${message}`, { cause: error });
  }
}

/** With the mark at the end of the last message: of its text, or of the last text among its parts. */
function marked(messages: readonly ChatMessage[]): readonly ChatMessage[] {
  const last = messages.at(-1);
  const content = typeof last?.content === 'string' ? last.content + CONTINUE_MARK : markedParts(last?.content);
  if (content === undefined) {
    throw new KvasirError(
      'INVALID_ARGUMENT',
      'continueFinalMessage needs a last message whose content is a text, or parts with a text among them',
    );
  }
  return [...messages.slice(0, -1), { role: '', ...last, content }];
}

function markedParts(parts: unknown): readonly unknown[] | undefined {
  if (!Array.isArray(parts)) return undefined;
  const at = parts.findLastIndex((part: { readonly text?: unknown } | null) => typeof part?.text === 'string');
  if (at < 0) return undefined;
  return parts.with(at, { ...parts[at], text: parts[at].text + CONTINUE_MARK });
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
