import { setTimeout as sleep } from 'node:timers/promises';
import { missingTopic, topics } from '@waypost/contracts';
import { type HistoryRebuild, openHistoryRebuild, type ProjectedLogs } from '@waypost/history-store';
import { createKafkaBackend, silentLogger, type StreamsBackend } from '@waypost/streams';
import { stackEnvironment } from '../stack/stack-config.js';
import { kafkaSettings } from '../stack/stack-connections.js';
import { CliError, createProgress, type Terminal, usageError, writeLine } from '../terminal/output.js';
import { firstAppendAt } from '../topic-reading/log-range.js';
import {
  createRebuildPace,
  describeEnd,
  describeRebuild,
  type PartitionRebuild,
  progressOf,
} from './rebuild-progress.js';

export interface RebuildOptions {
  readonly dataDir: string;
  /** The user agrees to the deletion. */
  readonly yes: boolean;
  /** Only show how far the history is, as after a rebuild whose command was interrupted. */
  readonly watch: boolean;
  /** Delete even what the logs cannot bring back, since they began after a move to new topics. */
  readonly withoutEarlier: boolean;
  /** Monotonic milliseconds. */
  readonly now: () => number;
}

interface Work {
  readonly rebuild: HistoryRebuild;
  readonly backend: Pick<StreamsBackend, 'partitionCount' | 'startOffset' | 'endOffset' | 'fetcher'>;
  readonly terminal: Terminal;
  readonly now: () => number;
}

const LOGS: ProjectedLogs = {
  deliveries: topics.webhookAttempts.name,
  delivery_figures: topics.webhookAttempts.name,
  path_points: topics.telemetryPings.name,
  waiting_deliveries: topics.webhookDeliveries.name,
};

const POLL_MS = 250;
/** From the start of an attempt to its record: its deadline, and what clocks may differ. */
const LONGEST_ATTEMPT_MS = 10_000;
const STALLED_AFTER_MS = 15_000;
const BUSY_TRIES = 20;
const BUSY_PAUSE_MS = 500;

/** Empties the history and shows how the running projectors fill it again from the logs (decision 0023). */
export async function rebuildHistory(terminal: Terminal, options: RebuildOptions): Promise<void> {
  const { dataDir, yes, watch, withoutEarlier, now } = options;
  if (!yes && !watch) throw usageError(WARNING);
  const stack = await stackEnvironment(dataDir);
  const backend = createKafkaBackend({ kafka: kafkaSettings(stack), logger: silentLogger, now: Date.now });
  const rebuild = await openHistoryRebuild(stack.require('DATABASE_URL'), LOGS);
  const work = { rebuild, backend, terminal, now };
  try {
    await assertSameLog(work);
    if (!watch) {
      if (!withoutEarlier) await assertLogHasAll(work);
      await empty(work);
      await writeLine(terminal.out, 'history deleted; the running projectors are refilling it');
    }
    const goal = await readPartitions(work);
    const records = await untilRebuilt(work, goal);
    await writeLine(terminal.out, describeEnd({ watch, records, topics: rebuild.topics }));
  } finally {
    await rebuild.close();
    await backend.close();
  }
}

const WARNING =
  'This deletes the history of deliveries and paths; the running projectors then rebuild it from the logs. Until ' +
  'they are done, the API shows only part of it. Pass --yes to do it, or --watch to see the progress.';

/** Rows beyond the end of a log come from another log and could not be rebuilt. */
async function assertSameLog(work: Work): Promise<void> {
  for (const { topic, partition, goal, at } of await readPartitions(work)) {
    if (at === null || at <= goal) continue;
    throw new CliError(
      `The history is projected up to offset ${String(at)} of ${topic}-${String(partition)}, but the log ends at ` +
        `${String(goal)}: it was filled from another log, and this log cannot refill it. Nothing was deleted.`,
    );
  }
}

/** After a move to new topics the log begins later than the history. */
async function assertLogHasAll({ rebuild, backend }: Work): Promise<void> {
  const topic = topics.webhookAttempts.name;
  const count = (await backend.partitionCount(topic)) ?? 0;
  const fetcher = backend.fetcher();
  let firstAt = Infinity;
  try {
    for (let partition = 0; partition < count; partition += 1) {
      // Retention deletes rows before it deletes their records.
      if ((await backend.startOffset({ topic, partition })) > 0) return;
      firstAt = Math.min(firstAt, await firstAppendAt(backend, fetcher, { topic, partition }));
    }
  } finally {
    await fetcher.close();
  }
  // An attempt is appended when it has ended.
  if (!(await rebuild.hasDeliveriesBefore(firstAt - LONGEST_ATTEMPT_MS))) return;
  throw new CliError(
    `The history has deliveries from before the first record of ${topic}: they are of earlier topics ("state import"), and ` +
      'this log cannot bring them back. Restore rows from a backup instead, or pass --without-earlier to lose them. ' +
      'Nothing was deleted.',
  );
}

async function empty({ rebuild }: Work): Promise<void> {
  for (let tries = 0; tries < BUSY_TRIES; tries += 1) {
    if ((await rebuild.empty()).type === 'emptied') return;
    await sleep(BUSY_PAUSE_MS);
  }
  throw new CliError(
    'The history tables are locked: look in pg_stat_activity for a long-running transaction. ' + 'Nothing was deleted.',
  );
}

/** The goal is the ends of the logs. Positions are read first, so that one never lies beyond the end of its log. */
async function readPartitions({ rebuild, backend }: Work): Promise<PartitionRebuild[]> {
  const positions = await positionsOf(rebuild);
  const found: PartitionRebuild[] = [];
  for (const topic of rebuild.topics) {
    const count = await backend.partitionCount(topic);
    if (count === null) throw new CliError(`${missingTopic(topic)} Nothing was deleted.`);
    for (let partition = 0; partition < count; partition += 1) {
      const at = positions.get(`${topic}-${String(partition)}`) ?? null;
      const [start, goal] = await Promise.all([
        backend.startOffset({ topic, partition }),
        backend.endOffset({ topic, partition }),
      ]);
      found.push({ topic, partition, start, goal, at });
    }
  }
  return found;
}

async function positionsOf(rebuild: HistoryRebuild): Promise<Map<string, number>> {
  const stored = await rebuild.readPositions();
  return new Map(stored.map(({ topic, partition, nextOffset }) => [`${topic}-${String(partition)}`, nextOffset]));
}

/** Resolves with the number of records when everything is projected that was in the logs. */
async function untilRebuilt(work: Work, goal: readonly PartitionRebuild[]): Promise<number> {
  const { rebuild, terminal, now } = work;
  const { total } = progressOf(goal);
  const bar = createProgress(terminal, total, now);
  const pace = createRebuildPace();
  let seen = { done: 0, atMs: now() };
  try {
    for (;;) {
      const positions = await positionsOf(rebuild);
      const progress = progressOf(
        goal.map((one) => ({ ...one, at: positions.get(`${one.topic}-${String(one.partition)}`) ?? null })),
      );
      const text = describeRebuild(progress, pace.note(now(), progress));
      if (progress.done >= total) return total;
      if (progress.done !== seen.done) seen = { done: progress.done, atMs: now() };
      const isStanding = now() - seen.atMs > STALLED_AFTER_MS;
      bar.update(
        progress.done,
        isStanding ? `no progress: is history-projector running? The rebuild continues once it is. ${text}` : text,
      );
      await sleep(POLL_MS);
    }
  } finally {
    bar.stop();
  }
}
