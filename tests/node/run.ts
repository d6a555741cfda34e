/** Runs commands and scripts as a person would. */
import { spawn, type ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';

export const CLI = fileURLToPath(new URL('../../web/package/dist/cli.js', import.meta.url));

export interface Outcome {
  readonly stdout: string;
  readonly stderr: string;
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

interface RunOptions {
  readonly input?: string;
  readonly cwd?: string;
  /** Hears of every output on stdout so far. */
  readonly onStdout?: (stdout: string, child: ChildProcess) => void;
}

export function kvasir(args: readonly string[], options: RunOptions = {}): Promise<Outcome> {
  return run(process.execPath, [CLI, ...args], options);
}

export function run(
  program: string,
  args: readonly string[],
  { input = '', cwd, onStdout }: RunOptions = {},
): Promise<Outcome> {
  const child = spawn(program, args, { cwd, stdio: 'pipe' });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
    onStdout?.(stdout, child);
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  child.stdin.on('error', () => undefined).end(input);
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code, signal) => resolve({ stdout, stderr, code, signal }));
  });
}
