/**
 * Runs a TypeScript program of this checkout on the built applications:
 * `node run-from-sources.mjs test/contract/main.ts --seed 7`. Exits with the program's exit code.
 */
import './prepare.mjs';
import { spawn } from 'node:child_process';
import { projectRoot } from './project.mjs';

const args = ['--import', './test/support/typescript-loader.mjs', ...process.argv.slice(2)];
const child = spawn(process.execPath, args, { cwd: projectRoot, stdio: 'inherit' });
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
child.once('exit', (code) => process.exit(code ?? 1));
