import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { ImageRecipe } from './dockerfile.js';

export interface ImageProgram {
  readonly name: string;
  /** The health check of the image. */
  isHealthy(): boolean;
  output(): string;
  /** Resolves with the exit code. */
  readonly ended: Promise<number | null>;
  /** As a container is stopped. @returns the exit code */
  stop(): Promise<number | null>;
}

interface Options {
  readonly root: string;
  readonly recipe: ImageRecipe;
  readonly env: Readonly<Record<string, string>>;
}

/**
 * A program of the image, as a container runs it: by the entry point, with the variables of the image and those given and
 * no others, and as its user if this process may become another one, who then owns none of the files.
 */
export function runInImage(args: readonly string[], { root, recipe, env }: Options): ImageProgram {
  const options = {
    cwd: join(root, recipe.workDir),
    env: { ...recipe.env, ...env },
    ...(process.getuid?.() === 0
      ? { uid: Number(recipe.user.split(':')[0]), gid: Number(recipe.user.split(':')[1]) }
      : {}),
  };
  const [file = '', ...rest] = inRoot(root, recipe.entryPoint);
  const child = spawn(file, [...rest, ...args], { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
  const ended = once(child, 'close').then(() => child.exitCode);
  const output = collect(child);
  const [checker = '', ...check] = inRoot(root, recipe.healthCheck);
  return {
    name: args.join(' '),
    output,
    ended,
    isHealthy: () => {
      if (child.exitCode !== null) throw new Error(`${args.join(' ')} has ended: ${output()}`);
      return spawnSync(checker, check, options).status === 0;
    },
    stop() {
      child.kill('SIGTERM');
      return ended;
    },
  };
}

/** Runs to the end. @throws Error with what it printed when it fails */
export async function finishInImage(args: readonly string[], options: Options): Promise<string> {
  const program = runInImage(args, options);
  const code = await program.ended;
  if (code !== 0) throw new Error(`${program.name} ended with ${String(code)}: ${program.output()}`);
  return program.output();
}

function inRoot(root: string, words: readonly string[]): string[] {
  return words.map((word) => (word.startsWith('/') ? join(root, word) : word));
}

function collect({ stdout, stderr }: ChildProcess): () => string {
  let text = '';
  for (const stream of [stdout, stderr]) stream?.setEncoding('utf8').on('data', (part: string) => (text += part));
  return () => text;
}
