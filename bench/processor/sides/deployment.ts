import { rm } from 'node:fs/promises';
import { consumerGroups } from '@waypost/contracts';
import { type BenchProcess, startBenchProcess } from '../../shared/processes/bench-process.js';
import { type Answer, parseAnswer } from '../answer.js';
import type { BenchContext } from '../bench-context.js';

/** An application as one configuration runs it: a group of its own, state that no run before it has left. */
export interface Deployment {
  readonly configuration: Configuration;
  readonly groupId: string;
  /** Starts the process of that number, counted from 0. */
  start(instance: number): Promise<BenchProcess>;
  startAll(): Promise<BenchProcess[]>;
  /** Deletes what the processes keep on this machine; none of them runs. */
  wipe(): Promise<void>;
  /** Before and after use: deletes what it has left, and what a run that was interrupted has. None of its processes runs. */
  clear(): Promise<void>;
}

interface Side {
  readonly groupId: string;
  readonly folder: string;
  readonly start: (instance: number) => Promise<BenchProcess>;
  /** Deletes what the processes keep on the broker. */
  readonly forget: () => Promise<void>;
}

export function createDeployment(context: BenchContext, configuration: Configuration): Deployment {
  const side = configuration.side === 'ours' ? ourSide(context, configuration) : theirSide(context, configuration);
  const { groupId, folder, start } = side;
  const wipe = (): Promise<void> => rm(folder, { recursive: true, force: true });
  return {
    configuration,
    groupId,
    start,
    wipe,
    startAll: () => Promise.all(Array.from({ length: configuration.processes }, (_, instance) => start(instance))),
    async clear() {
      await side.forget();
      await wipe();
    },
  };
}

function ourSide({ stack, groups, applications, flags }: BenchContext, configuration: OurConfiguration): Side {
  const groupId = consumerGroups.telemetryProcessor.id;
  const folder = stack.file('telemetry-processor');
  const rules = configuration.rules === 'positions' ? 'positions' : 'all';
  const start = (instance: number): Promise<BenchProcess> => {
    const env = { WAYPOST_RULES: rules, WAYPOST_STATE_DIR: `${folder}/${String(instance)}` };
    // The clock of a measurement runs from the start of the process.
    return applications.start('telemetry-processor', { instance, env, nodeFlags: flags.nodeFlags, untilReady: false });
  };
  return { groupId, folder, start, forget: () => groups.forget(groupId) };
}

function theirSide({ stack, topics, programs, nextNumber }: BenchContext, configuration: TheirConfiguration): Side {
  const { threads, store, commitMs, heapMiB, settings } = configuration;
  const groupId = `peer-${String(nextNumber())}`;
  const folder = stack.file(groupId);
  const start = (instance: number): Promise<BenchProcess> => {
    const name = `kafka-streams-${String(instance)}`;
    const variables = {
      APP_ID: groupId,
      STATE_DIR: `${folder}/${name}`,
      THREADS: String(threads),
      STORE: store,
      COMMIT_MS: String(commitMs),
      CONFIG: settings(instance).join(' '),
    };
    return startBenchProcess(stack, name, programs.command('Application', [], variables, [`-Xmx${String(heapMiB)}m`]));
  };
  // Its members leave with the session timeout, which is long: the group, of a name that is not used again, stays.
  return { groupId, folder, start, forget: () => topics.deleteWithPrefix(`${groupId}-`) };
}

/** Aborted by Ctrl-C and by the unasked end of a process. */
export function anyFailure({ signal }: Pick<BenchContext, 'signal'>, processes: readonly BenchProcess[]): AbortSignal {
  return AbortSignal.any([signal, ...processes.map(({ failed }) => failed)]);
}

/** Measures a configuration that begins with empty outputs and ends with the backlog done; with the answer that it gave. */
export async function measureWithAnswer<T extends object>(
  context: BenchContext,
  configuration: Configuration,
  measure: (deployment: Deployment) => Promise<T>,
): Promise<T & { readonly configuration: Configuration; readonly answer: Answer }> {
  await context.topics.freshOutputs();
  const deployment = createDeployment(context, configuration);
  await deployment.clear();
  const measured = await measure(deployment);
  await deployment.clear();
  return { configuration, ...measured, answer: parseAnswer(await context.programs.run('Drain', ['answer'])) };
}

/**
 * `positions`: what the peer does as well. `unasked`: all rules, and no fleet has a geofence or wants routes. `all`: every fleet
 * has a thousand geofences and wants routes.
 */
export type RulesAtWork = 'positions' | 'unasked' | 'all';

const RULES_TEXT: Readonly<Record<RulesAtWork, string>> = {
  positions: '',
  unasked: ', nothing asked for',
  all: ', all rules',
};

/** The product: telemetry-processor. */
export interface OurConfiguration {
  readonly side: 'ours';
  readonly label: string;
  readonly processes: number;
  readonly rules: RulesAtWork;
}

/** The peer on Kafka Streams. */
export interface TheirConfiguration {
  readonly side: 'theirs';
  readonly label: string;
  readonly processes: number;
  readonly threads: number;
  readonly store: 'inmemory' | 'rocksdb';
  readonly commitMs: number;
  /** Any of Kafka's, for a process by its number. */
  readonly settings: (instance: number) => readonly string[];
  readonly heapMiB: number;
}

export type Configuration = OurConfiguration | TheirConfiguration;

const HEAP_MIB = 512;

export function ours(processes: number, rules: RulesAtWork = 'positions'): OurConfiguration {
  const label = `Waypost, ${counted(processes, 'process', 'processes')}${RULES_TEXT[rules]}`;
  return { side: 'ours', label, processes, rules };
}

/** In memory and without a cache, its best for this work, unless said otherwise. */
export function theirs(
  threads: number,
  { note, ...more }: Partial<Omit<TheirConfiguration, 'side' | 'label' | 'threads'>> & { readonly note?: string } = {},
): TheirConfiguration {
  const store = more.store ?? 'inmemory';
  const parts = [counted(threads, 'thread', 'threads'), store === 'inmemory' ? 'in memory' : 'RocksDB'];
  return {
    side: 'theirs',
    label: ['Kafka Streams', ...parts, ...(note === undefined ? [] : [note])].join(', '),
    threads,
    store,
    processes: 1,
    commitMs: 100,
    settings: () => [],
    heapMiB: HEAP_MIB,
    ...more,
  };
}

function counted(count: number, one: string, many: string): string {
  return `${String(count)} ${count === 1 ? one : many}`;
}
