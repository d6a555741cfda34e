// What the set-up says, and the ways in which it and the builds give up.

/** Something is missing that the set-up cannot get by itself; the message says what and how to get it. */
export class SetupError extends Error {}

/** A builder failed, and has said why. */
export class BuildError extends Error {}

/** One line a step, on stderr: stdout belongs to the program that comes after. */
export function say(line) {
  process.stderr.write(`set-up: ${line}\n`);
}
