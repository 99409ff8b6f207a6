import { readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { KafkaSettings } from '@waypost/streams';
import {
  type Guardian,
  readJsonFile,
  type StackReporter,
  startDevStack,
  startGuardian,
  writeJsonFile,
} from '../../../tools/dev-stack/index.js';
import { type StackKeys, stackKeys } from '../../../tools/dev-stack/start/app-environment.js';
import { setUpStack } from '../../../tools/dev-stack/start/set-up.js';
import { dropData, openBenchFolder } from './bench-folder.js';

/** Where everything is that a run needs; a serving process writes it down for the runs that use its stack. */
interface StackFacts {
  readonly pid: number;
  readonly kafka: KafkaSettings;
  readonly registryUrl: string;
  readonly databaseUrl: string;
  readonly brokerPid: number;
  readonly registryPid: number;
  readonly postgresPid: number;
  readonly keys: StackKeys;
}

/** A broker, a registry and a database, with all topics, schemas and tables. */
export interface BenchStack extends StackFacts {
  readonly guardian: Guardian;
  readonly logsDir: string;
  /** A file of the data directory. */
  file(name: string): string;
  stop(): Promise<void>;
}

export interface BenchStackOptions {
  readonly folder: string;
  readonly env: NodeJS.ProcessEnv;
  readonly reporter: StackReporter;
  readonly signal: AbortSignal;
  /** Begin with what an earlier run has left, instead of nothing. */
  readonly keep: boolean;
}

/** Of every topic. */
export const PARTITIONS = 4;
const SERVING_FILE = 'serving.json';

/** The stack that another process serves on this data directory, or else one of its own. */
export async function openBenchStack(options: BenchStackOptions): Promise<BenchStack> {
  const folder = resolve(options.folder);
  const serving = (await readJsonFile(join(folder, SERVING_FILE))) as StackFacts | null;
  if (serving !== null && isServing(serving.pid)) return attach(folder, serving, options.reporter);
  return (await startStack({ ...options, folder })).stack;
}

/** Keeps a stack running for others until `signal` is aborted. */
export async function serveBenchStack({ signal, ...options }: Omit<BenchStackOptions, 'keep'>): Promise<void> {
  const folder = resolve(options.folder);
  const { stack, facts } = await startStack({ ...options, signal, folder, keep: true });
  const file = stack.file(SERVING_FILE);
  try {
    await writeJsonFile(file, facts);
    options.reporter.note(`The stack runs in ${folder}; Ctrl-C stops it.`);
    await new Promise<void>((done) => {
      signal.addEventListener('abort', () => done());
      if (signal.aborted) done();
    });
  } finally {
    await rm(file, { force: true });
    await stack.stop();
  }
}

async function startStack(options: BenchStackOptions): Promise<{ stack: BenchStack; facts: StackFacts }> {
  const { folder, keep, env, reporter, signal } = options;
  const dataDir = await openBenchFolder(folder, { keep });
  const stack = await startDevStack({ dataDir, env, durable: false, reporter, signal });
  try {
    await reporter.during('Creating topics, schemas and tables', () =>
      setUpStack(stack, { partitions: PARTITIONS, replicationFactor: 1 }),
    );
    const pidOf = (name: string): number => stack.pids()[name]?.[0] ?? 0;
    const facts: StackFacts = {
      pid: process.pid,
      kafka: stack.kafka,
      registryUrl: stack.registryUrl,
      databaseUrl: stack.databaseUrl,
      brokerPid: pidOf('kafka'),
      registryPid: pidOf('registry'),
      postgresPid: pidOf('postgres'),
      keys: await stackKeys(dataDir),
    };
    const stop = async (): Promise<void> => {
      await stack.stop();
      if (!keep) await dropData(folder);
    };
    const { guardian } = stack;
    return { facts, stack: { ...facts, guardian, logsDir: dataDir.logsDir, file: (name) => dataDir.file(name), stop } };
  } catch (error) {
    await stack.stop();
    throw error;
  }
}

function attach(folder: string, facts: StackFacts, reporter: StackReporter): BenchStack {
  reporter.note(`Using the stack that runs in ${folder}.`);
  const logsDir = join(folder, 'logs');
  // Under a mark of its own: the guardian ends every process with its mark, and the stack is not ours.
  const guardian = startGuardian({
    mark: `WAYPOST_STACK_MARK=bench-${String(process.pid)}`,
    logFile: join(logsDir, 'bench-guardian.log'),
  });
  return { ...facts, guardian, logsDir, file: (name) => join(folder, name), stop: () => guardian.close() };
}

/** A process id alone may have been given to another program since. */
function isServing(pid: number): boolean {
  try {
    return readFileSync(`/proc/${String(pid)}/cmdline`, 'latin1').includes('--serve');
  } catch {
    return false;
  }
}
