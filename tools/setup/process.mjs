// Runs programs.
import { execFileSync, spawnSync } from 'node:child_process';

/** Runs a program to its end and gives its stdout; throws, with its stderr in the message, where it fails. */
export function run(command, args, options = {}) {
  const result = spawnSync(command, args, { encoding: 'utf8', maxBuffer: 1 << 28, ...options });
  if (result.error) throw result.error;
  if (result.status === 0) return result.stdout;
  const said = `${result.stdout ?? ''}${result.stderr ?? ''}`.trim().split('\n').slice(-20).join('\n');
  throw new Error(`${command} ${args.join(' ')} failed:\n${said}`);
}

/** Where the program is that a shell would run, or undefined. */
export function findProgram(name) {
  try {
    return execFileSync('/bin/sh', ['-c', 'command -v "$0"', name], { encoding: 'utf8' }).trim() || undefined;
  } catch {
    return undefined;
  }
}
