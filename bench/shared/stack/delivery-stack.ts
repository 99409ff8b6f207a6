import { readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import {
  type Guardian,
  openDataDir,
  readJsonFile,
  type StackReporter,
  startDevStack,
  startGuardian,
  writeJsonFile,
} from '../../../tools/dev-stack/index.js';
import { stackKeys, type StackKeys } from '../../../tools/dev-stack/start/app-environment.js';
import { setUpStack } from '../../../tools/dev-stack/start/set-up.js';
import { claimFolder, dropData } from '../../processor/stack/bench-folder.js';

type Environment = Readonly<Record<string, string | undefined>>;

/** Where everything is that a run needs; what `--serve` tells to the runs that use its stack. */
export interface StackFacts {
  readonly pid: number;
  readonly brokers: readonly string[];
  readonly registryUrl: string;
  readonly databaseUrl: string;
  readonly brokerPid: number;
  readonly registryPid: number;
  readonly postgresPid: number;
  readonly keys: StackKeys;
}

export interface DeliveryStack extends StackFacts {
  readonly guardian: Guardian;
  readonly logsDir: string;
  /** A file of the data directory. */
  file(name: string): string;
  stop(): Promise<void>;
}

export interface DeliveryStackOptions {
  readonly folder: string;
  readonly env: Environment;
  readonly partitions: number;
  readonly reporter: StackReporter;
  readonly signal: AbortSignal;
  /** Begin with what a former run has left, instead of nothing. */
  readonly keep: boolean;
}

const SERVING_FILE = 'serving.json';

/** The stack that another process serves on this data directory, or else one of its own. */
export async function openDeliveryStack(options: DeliveryStackOptions): Promise<DeliveryStack> {
  const folder = resolve(options.folder);
  const serving = (await readJsonFile(join(folder, SERVING_FILE))) as StackFacts | null;
  if (serving !== null && isServing(serving.pid)) return attach(folder, serving, options.reporter);
  return startStack({ ...options, folder });
}

/** Keeps a stack running for others until `signal` is aborted. */
export async function serveDeliveryStack(options: DeliveryStackOptions): Promise<void> {
  const stack = await startStack({ ...options, folder: resolve(options.folder), keep: true });
  const file = stack.file(SERVING_FILE);
  try {
    await writeJsonFile(file, factsOf(stack));
    options.reporter.note(`The stack runs in ${options.folder}; Ctrl-C stops it.`);
    await new Promise<void>((done) => {
      options.signal.addEventListener('abort', () => {
        done();
      });
      if (options.signal.aborted) done();
    });
  } finally {
    await rm(file, { force: true });
    await stack.stop();
  }
}

function factsOf(stack: DeliveryStack): StackFacts {
  const { pid, brokers, registryUrl, databaseUrl, brokerPid, registryPid, postgresPid, keys } = stack;
  return { pid, brokers, registryUrl, databaseUrl, brokerPid, registryPid, postgresPid, keys };
}

async function startStack(options: DeliveryStackOptions): Promise<DeliveryStack> {
  const { folder, keep, env, partitions, reporter, signal } = options;
  // Opened and released: ends what a former stack has left running, and refuses while another stack runs here.
  await claimFolder(folder, { keep: true });
  await (await openDataDir(folder)).release();
  await claimFolder(folder, { keep });
  const dataDir = await openDataDir(folder);
  const stack = await startDevStack({ dataDir, env, durable: false, reporter, signal });
  try {
    await reporter.during('Creating topics, schemas and tables', () =>
      setUpStack(stack, { partitions, replicationFactor: 1 }),
    );
    const pidOf = (name: string): number => stack.pids()[name]?.[0] ?? 0;
    return {
      ...{ pid: process.pid, brokers: stack.kafka.brokers, registryUrl: stack.registryUrl },
      databaseUrl: stack.databaseUrl,
      ...{ brokerPid: pidOf('kafka'), registryPid: pidOf('registry'), postgresPid: pidOf('postgres') },
      keys: await stackKeys(dataDir),
      guardian: stack.guardian,
      logsDir: dataDir.logsDir,
      file: (name) => dataDir.file(name),
      async stop() {
        await stack.stop();
        if (!keep) await dropData(folder);
      },
    };
  } catch (error) {
    await stack.stop();
    throw error;
  }
}

function attach(folder: string, facts: StackFacts, reporter: StackReporter): DeliveryStack {
  reporter.note(`Using the stack that runs in ${folder}.`);
  const logsDir = join(folder, 'logs');
  // Under a mark of its own: the guardian ends what carries it, and the stack is not ours.
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
