import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { eventually } from './eventually.js';
import { runCli, type CliResult } from './run-cli.js';
import { productEnvironment } from './waypost-config.js';

/** `stack.json`. */
export interface StackInfo {
  readonly brokers: readonly string[];
  readonly registryUrl: string;
  readonly databaseUrl: string;
  readonly apiUrl: string;
  readonly apiKeys: Readonly<Record<string, string>>;
  readonly pids: Readonly<Record<string, readonly number[]>>;
}

export interface StartWaypostOptions {
  /** Besides `--no-demo --data-dir DIR`. */
  readonly flags?: readonly string[];
  /** Default: a new one, which `stop` deletes. */
  readonly dataDir?: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** The product, started as its users start it. */
export interface Waypost {
  readonly dataDir: string;
  /** Read anew at each call: process ids and API keys change. */
  info(): StackInfo;
  output(): string;
  /** A command of the `waypost` command line on this stack. @throws when it fails. */
  cli(...args: readonly string[]): Promise<string>;
  /** Like `cli`; the JSON objects it printed, one a line. */
  cliLines<T>(...args: readonly string[]): Promise<T[]>;
  /** The same, whatever its exit code. */
  tryCli(...args: readonly string[]): Promise<CliResult>;
  /** SIGKILL to one process of a part or application; resolves to its process id. */
  kill(name: string): number;
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
  const started = eventually(() => existsSync(stackFile) || Promise.reject(new Error('npm start is not ready.')), {
    timeoutMs: READY_TIMEOUT_MS,
  });
  const isReady = await Promise.race([started, exited.then(() => false)]);
  if (!isReady) throw new Error(`npm start has ended:\n${output}`);

  const info = (): StackInfo => JSON.parse(readFileSync(stackFile, 'utf8')) as StackInfo;
  const signalAll = (signal: NodeJS.Signals): void => {
    if (child.pid !== undefined && child.exitCode === null && child.signalCode === null)
      process.kill(-child.pid, signal);
  };
  const tryCli = (...args: readonly string[]) => runCli([...args, '--data-dir', dataDir]);
  const cli = async (...args: readonly string[]): Promise<string> => {
    const { code, stdout, stderr } = await tryCli(...args);
    if (code !== 0)
      throw new Error(`waypost ${args.join(' ')} failed with exit code ${String(code)}:\n${stderr}${stdout}`);
    return stdout;
  };
  return {
    dataDir,
    info,
    output: () => output,
    cli,
    cliLines: async <T>(...args: readonly string[]) => jsonLines<T>(await cli(...args)),
    tryCli,
    kill(name) {
      const [pid] = info().pids[name] ?? [];
      if (pid === undefined) throw new Error(`No process of ${name} is known.`);
      process.kill(pid, 'SIGKILL');
      return pid;
    },
    async crash() {
      signalAll('SIGKILL');
      await exited;
    },
    async stop() {
      signalAll('SIGTERM');
      await exited;
      if (given === undefined) await rm(dataDir, { recursive: true, force: true });
    },
  };
}

async function newDataDir(): Promise<string> {
  const dataDir = await mkdtemp(join(tmpdir(), 'waypost-e2e-'));
  // As root, Postgres runs as another user, who has to get in.
  await chmod(dataDir, 0o711);
  return dataDir;
}

function jsonLines<T>(text: string): T[] {
  return text
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as T);
}
