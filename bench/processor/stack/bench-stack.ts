import { readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { KafkaSettings } from '@waypost/streams';
import {
  openDataDir,
  readJsonFile,
  startDevStack,
  startGuardian,
  writeJsonFile,
  type Guardian,
  type StackReporter,
} from '../../../tools/dev-stack/index.js';
import { claimFolder, dropData } from './bench-folder.js';

type Environment = Readonly<Record<string, string | undefined>>;

/** The stack that both sides are measured on. */
export interface BenchStack {
  readonly kafka: KafkaSettings;
  readonly registryUrl: string;
  readonly brokerPid: number;
  readonly guardian: Guardian;
  readonly folder: string;
  readonly logsDir: string;
  /** A file of the data directory. */
  file(name: string): string;
  stop(): Promise<void>;
}

export interface BenchStackOptions {
  readonly folder: string;
  readonly env: Environment;
  readonly reporter: StackReporter;
  readonly signal: AbortSignal;
  /** Begin with what a former run has left, instead of nothing. */
  readonly keep: boolean;
}

/** What a serving process tells of its stack. */
interface Serving {
  readonly pid: number;
  readonly brokers: readonly string[];
  readonly registryUrl: string;
  readonly brokerPid: number;
}

const SERVING_FILE = 'serving.json';

/** The stack that another process serves on this data directory, or else one of its own. */
export async function openBenchStack(options: BenchStackOptions): Promise<BenchStack> {
  const folder = resolve(options.folder);
  const serving = (await readJsonFile(join(folder, SERVING_FILE))) as Serving | null;
  if (serving !== null && isServing(serving.pid)) return attach(folder, serving, options.reporter);
  return startStack({ ...options, folder });
}

/** Keeps a stack running for others until `signal` is aborted. */
export async function serveBenchStack(options: BenchStackOptions): Promise<void> {
  const stack = await startStack({ ...options, folder: resolve(options.folder), keep: true });
  const { kafka, registryUrl, brokerPid } = stack;
  const serving: Serving = { pid: process.pid, brokers: kafka.brokers, registryUrl, brokerPid };
  try {
    await writeJsonFile(stack.file(SERVING_FILE), serving);
    options.reporter.note(`The stack runs in ${stack.folder}; Ctrl-C stops it.`);
    await new Promise<void>((done) => {
      options.signal.addEventListener('abort', () => {
        done();
      });
      if (options.signal.aborted) done();
    });
  } finally {
    await rm(stack.file(SERVING_FILE), { force: true });
    await stack.stop();
  }
}

async function startStack({ folder, keep, env, reporter, signal }: BenchStackOptions): Promise<BenchStack> {
  // Opened and released: ends what a former stack has left running, and refuses while another stack runs here.
  await claimFolder(folder, { keep: true });
  await (await openDataDir(folder)).release();
  await claimFolder(folder, { keep });
  const dataDir = await openDataDir(folder);
  const stack = await startDevStack({ dataDir, env, durable: false, reporter, signal });
  const [brokerPid] = stack.pids()['kafka'] ?? [];
  if (brokerPid === undefined) throw new Error('The stack has no broker.');
  const { kafka, registryUrl, guardian } = stack;
  return {
    ...{ kafka, registryUrl, guardian, brokerPid, folder },
    logsDir: dataDir.logsDir,
    file: (name) => dataDir.file(name),
    async stop() {
      await stack.stop();
      if (!keep) await dropData(folder);
    },
  };
}

function attach(folder: string, serving: Serving, reporter: StackReporter): BenchStack {
  reporter.note(`Using the stack that runs in ${folder}.`);
  const logsDir = join(folder, 'logs');
  // Under a mark of its own: the guardian ends what carries it, and the stack is not ours.
  const guardian = startGuardian({
    mark: `WAYPOST_STACK_MARK=bench-${String(process.pid)}`,
    logFile: join(logsDir, 'bench-guardian.log'),
  });
  return {
    kafka: { brokers: serving.brokers, clientId: 'waypost-bench' },
    registryUrl: serving.registryUrl,
    brokerPid: serving.brokerPid,
    ...{ guardian, folder, logsDir },
    file: (name) => join(folder, name),
    stop: () => guardian.close(),
  };
}

/** A process id alone may have been given to another program since. */
function isServing(pid: number): boolean {
  try {
    return readFileSync(`/proc/${String(pid)}/cmdline`, 'latin1').includes('--serve');
  } catch {
    return false;
  }
}
