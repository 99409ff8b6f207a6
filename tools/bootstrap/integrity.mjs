/** The fault suite: see test/integrity/README.md. It runs from its sources, on the built applications. */
import { spawn } from 'node:child_process';
import './prepare.mjs';
import { projectRoot } from './project.mjs';

const args = ['--import', './test/support/typescript-loader.mjs', 'test/integrity/main.ts', ...process.argv.slice(2)];
const child = spawn(process.execPath, args, { cwd: projectRoot, stdio: 'inherit' });
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
child.once('exit', (code) => process.exit(code ?? 1));
