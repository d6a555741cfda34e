// Kvasir in Node. Each measurement has a process of its own, so that its memory is nobody else's.
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { argv, resourceUsage } from 'node:process';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { PACKAGE } from '../../../tools/setup/paths.mjs';
import { runProgram } from './run-program.mjs';
import { measureKvasir } from './measure-kvasir.mjs';

const SELF = fileURLToPath(import.meta.url);

export function kvasirInNode(program, variant) {
  const version = execFileSync(program, ['--version'], { encoding: 'utf8' }).trim().slice(1);
  return {
    name: `Kvasir ${variant}, Node ${version.split('.')[0]}`,
    kind: 'kvasir',
    async measure(file, plan) {
      return JSON.parse(await runProgram(program, [SELF, file, variant, JSON.stringify(plan)]));
    },
  };
}

if (import.meta.url === pathToFileURL(argv[1]).href) {
  const [file, variant, plan] = argv.slice(2);
  const { loadModel } = await import(pathToFileURL(join(PACKAGE, 'dist/index-node.js')).href);
  const measurement = await measureKvasir(loadModel, file, variant, JSON.parse(plan));
  console.log(JSON.stringify({ ...measurement, processBytes: resourceUsage().maxRSS * 1024 }));
}
