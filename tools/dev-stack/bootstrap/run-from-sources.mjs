import { spawn } from 'node:child_process';
import { projectRoot } from './project.mjs';

/** Runs a TypeScript program of this checkout with the arguments of this process, and ends as it ends. */
export function runFromSources(program) {
  const args = ['--import', './test/support/typescript-loader.mjs', program, ...process.argv.slice(2)];
  const child = spawn(process.execPath, args, { cwd: projectRoot, stdio: 'inherit' });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.once('exit', (code) => process.exit(code ?? 1));
}
