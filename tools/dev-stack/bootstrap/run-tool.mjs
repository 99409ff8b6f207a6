import { spawn } from 'node:child_process';
import { fail, projectRoot, say } from './project.mjs';

const TICK_MS = 1_000;

/**
 * Runs a tool with progress: elapsed seconds on a terminal, and its output if it fails.
 */
export async function runTool(title, file, args) {
  const startedAt = Date.now();
  const seconds = () => `${((Date.now() - startedAt) / 1000).toFixed(0)} s`;
  const isTerminal = process.stderr.isTTY === true;
  if (!isTerminal) say(title);
  const ticking = isTerminal
    ? setInterval(() => process.stderr.write(`\r\u001B[K${title} ${seconds()}`), TICK_MS)
    : undefined;

  const { code, output } = await run(file, args);
  clearInterval(ticking);
  if (isTerminal) process.stderr.write('\r\u001B[K');
  if (code === 0) say(`${title}: done in ${seconds()}`);
  else fail(`${output.trimEnd()}\n${title} failed.`);
}

function run(file, args) {
  return new Promise((resolve) => {
    const child = spawn(file, args, { cwd: projectRoot, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text) => (output += text));
    child.once('error', (error) => resolve({ code: 1, output: `${file}: ${error.message}` }));
    child.once('close', (code) => resolve({ code, output }));
  });
}
