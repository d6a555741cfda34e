/** The stable codes of {@link KvasirError}. */
export type ErrorCode =
  /** The model, the file's features or this machine are not supported. */
  | 'UNSUPPORTED_MODEL'
  /** The file is damaged or is no model file. */
  | 'MALFORMED_FILE'
  /** Memory ran out. When it did inside WebAssembly, the model must be loaded again. */
  | 'OUT_OF_MEMORY'
  /** The prompt is longer than the context. */
  | 'CONTEXT_OVERFLOW'
  /** The model's bytes could not be fetched or read. */
  | 'DOWNLOAD_FAILED'
  /** The browser's storage is full. */
  | 'QUOTA_EXCEEDED'
  /** The caller's signal ended the load. */
  | 'ABORTED'
  /** The model was disposed of. */
  | 'DISPOSED'
  /** An argument is out of range; the message names it. */
  | 'INVALID_ARGUMENT'
  /** The engine crashed: a defect of Kvasir. The model must be loaded again. */
  | 'INTERNAL';

/** Every error that Kvasir reports. */
export class KvasirError extends Error {
  /** What went wrong, for programs. */
  readonly code: ErrorCode;

  constructor(code: ErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'KvasirError';
    this.code = code;
  }
}

const CODES: ReadonlySet<string> = new Set<ErrorCode>([
  'UNSUPPORTED_MODEL',
  'MALFORMED_FILE',
  'OUT_OF_MEMORY',
  'CONTEXT_OVERFLOW',
  'DOWNLOAD_FAILED',
  'QUOTA_EXCEEDED',
  'ABORTED',
  'DISPOSED',
  'INVALID_ARGUMENT',
]);

/** @internal An error from a code that crossed a border as a plain string. */
export function errorFromCode(code: string, message: string): KvasirError {
  return new KvasirError(CODES.has(code) ? (code as ErrorCode) : 'INTERNAL', message);
}

/** @internal */
export function invalidArgument(name: string, expected: string, got: unknown): KvasirError {
  return new KvasirError('INVALID_ARGUMENT', `${name} must be ${expected}, not ${describe(got)}`);
}

function describe(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value);
  if (typeof value === 'object' && value !== null) return Array.isArray(value) ? 'an array' : 'an object';
  return String(value);
}
