/** The command was called wrongly: the message says how. Internal. */
export class UsageError extends Error {}
