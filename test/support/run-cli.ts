import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { productEnvironment } from './waypost-config.js';

export interface CliResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

const root = fileURLToPath(new URL('../../', import.meta.url));

/** `npm run -s waypost -- ARGS`, as users type it. */
export async function runCli(args: readonly string[]): Promise<CliResult> {
  const child = spawn('npm', ['run', '-s', 'waypost', '--', ...args], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: productEnvironment(),
  });
  const closed = once(child, 'close');
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  const [code] = (await closed) as [number | null];
  return { code, stdout, stderr };
}
