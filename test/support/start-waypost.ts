import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type RunningWaypost, runningWaypost } from './running-waypost.js';
import { until } from './until.js';
import { productEnvironment } from './waypost-config.js';

export interface StartWaypostOptions {
  /** Besides `--no-demo --data-dir DIR`. */
  readonly flags?: readonly string[];
  /** Default: a new one, which `stop` deletes. */
  readonly dataDir?: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** The product, started as its users start it. */
export interface Waypost extends RunningWaypost {
  output(): string;
  /** SIGKILL to npm and the supervisor, with all that follows from it. */
  crash(): Promise<void>;
  stop(): Promise<void>;
}

const root = fileURLToPath(new URL('../../', import.meta.url));
const READY_TIMEOUT_MS = 300_000;

export async function startWaypost({ flags = [], dataDir: given, env }: StartWaypostOptions = {}): Promise<Waypost> {
  const dataDir = given ?? (await newDataDir());
  const stackFile = join(dataDir, 'stack.json');
  await rm(stackFile, { force: true });
  // In a group of its own, to be stopped as a whole. Its standard input ends with this process: then it stops.
  const child = spawn('npm', ['start', '--', '--no-demo', '--data-dir', dataDir, ...flags], {
    cwd: root,
    detached: true,
    stdio: ['pipe', 'pipe', 'pipe'],
    env: productEnvironment({ WAYPOST_SUPERVISED: 'true', ...env }),
  });
  const exited = once(child, 'exit');
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  }
  const signalAll = (signal: NodeJS.Signals): void => {
    if (child.pid !== undefined && child.exitCode === null && child.signalCode === null)
      process.kill(-child.pid, signal);
  };
  const started = until(() => existsSync(stackFile) || Promise.reject(new Error('npm start is not ready.')), {
    timeoutMs: READY_TIMEOUT_MS,
  }).catch(() => false);
  const isReady = await Promise.race([started, exited.then(() => false)]);
  if (!isReady) {
    signalAll('SIGTERM');
    throw new Error(`npm start has ended, or does not get ready:\n${output}`);
  }
  return {
    ...runningWaypost(dataDir),
    output: () => output,
    async crash() {
      signalAll('SIGKILL');
      await exited;
    },
    async stop() {
      signalAll('SIGTERM');
      await exited;
      if (given === undefined) await removeDataDir(dataDir);
    },
  };
}

/** Children of a PostgreSQL that had to be killed write for a moment longer. */
function removeDataDir(dataDir: string): Promise<void> {
  return rm(dataDir, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
}

async function newDataDir(): Promise<string> {
  const dataDir = await mkdtemp(join(tmpdir(), 'waypost-e2e-'));
  // As root, Postgres runs as another user, who has to get in.
  await chmod(dataDir, 0o711);
  return dataDir;
}
