import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { productEnvironment } from './waypost-config.js';

export interface CliResult {
  /** null: ended by a signal. */
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

const root = fileURLToPath(new URL('../../', import.meta.url));
/** No command of the tests takes nearly as long; one that hangs must not outlive them. */
const TIMEOUT_MS = 180_000;

/** `npm run -s waypost -- ARGS`, as users type it. */
export async function runCli(args: readonly string[]): Promise<CliResult> {
  const child = spawn('npm', ['run', '-s', 'waypost', '--', ...args], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: productEnvironment(),
    timeout: TIMEOUT_MS,
  });
  const closed = once(child, 'close');
  const stdout: string[] = [];
  const stderr: string[] = [];
  child.stdout.setEncoding('utf8').on('data', (text: string) => stdout.push(text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => stderr.push(text));
  const [code] = (await closed) as [number | null];
  return { code, stdout: stdout.join(''), stderr: stderr.join('') };
}
