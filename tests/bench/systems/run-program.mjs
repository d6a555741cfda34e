import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

/** What a program prints; its complaint is the error's message. */
export async function runProgram(program, args) {
  try {
    const { stdout } = await promisify(execFile)(program, args, { encoding: 'utf8', maxBuffer: 64 << 20 });
    return stdout;
  } catch (error) {
    throw new Error(error.stderr?.trim().split('\n').slice(-3).join(' | ') || error.message, { cause: error });
  }
}
