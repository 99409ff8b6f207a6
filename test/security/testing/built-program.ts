import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { projectRoot } from '../../../tools/dev-stack/project-root.js';

export interface BuiltProgram {
  output(): string;
  /** The exit code. */
  readonly ended: Promise<number | null>;
  stop(): Promise<number | null>;
}

/** A program of dist, with these variables and no others. */
export function startBuilt(path: string, args: readonly string[], env: Readonly<Record<string, string>>): BuiltProgram {
  const file = join(projectRoot(), 'dist', path);
  const child = spawn(process.execPath, [file, ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => (output += text));
  }
  const ended = once(child, 'close').then(() => child.exitCode);
  return {
    output: () => output,
    ended,
    stop() {
      child.kill('SIGTERM');
      return ended;
    },
  };
}
