// What the set-up says, and the one way in which it gives up.

/** Something is missing that the set-up cannot get by itself; the message says what and how to get it. */
export class SetupError extends Error {}

/** One line a step, on stderr: stdout belongs to the program that comes after. */
export function say(line) {
  process.stderr.write(`set-up: ${line}\n`);
}
