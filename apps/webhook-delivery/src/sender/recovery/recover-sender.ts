import { type AvroCodecs, resolveBatch, topics } from '@waypost/contracts';
import { MAX_RETRY_DELAY_MS, PROBE_EVERY_MS, type SubscriptionState } from '@waypost/domain';
import { type StreamsBackend, StreamsError, type StreamsLogger, type TaskContext } from '@waypost/streams';
import { type Fetcher, readToEnd } from '@waypost/streams/admin';
import { type Clocks, type Moment, momentNow } from '../../process/clocks.js';
import { readIfUsable, readOwnRecord } from '../../process/read-own-record.js';
import type { BegunDeliveries, CommitPoint } from '../backlogs/partition-backlogs.js';
import { AttemptFold, type FoldedAttempts } from './attempt-fold.js';

export interface RecoveredSender extends Pick<FoldedAttempts, 'waits' | 'accepted'> {
  readonly start: CommitPoint;
  readonly states: ReadonlyMap<string, SubscriptionState>;
  /** Progress by offset of the delivery; an entry may be removed once its delivery has been taken in. */
  readonly byDelivery: FoldedAttempts['byDelivery'];
  readonly begun: BegunDeliveries;
  readonly begunBySubscription: ReadonlyMap<string, BegunDeliveries>;
  /** The position after the last attempt. */
  readonly attemptsEnd: number;
  /** The newest append time of an attempt, by the broker's clock; -Infinity: there is none. */
  readonly newestAppend: number;
  /** When the log was read: its due times count from here, however late their deliveries are taken in. */
  readonly readAt: Moment;
}

export interface SenderRecoveryDeps extends Clocks {
  readonly backend: StreamsBackend;
  readonly codecs: AvroCodecs;
  readonly logger: StreamsLogger;
}

/** A wait that is not over comes from a record appended within this time. */
const LONGEST_WAIT_MS = Math.max(PROBE_EVERY_MS, MAX_RETRY_DELAY_MS);

export async function recoverSender(context: TaskContext, deps: SenderRecoveryDeps): Promise<RecoveredSender> {
  const { partition } = context;
  const start = await senderPosition(deps.backend, context);
  const fetcher = deps.backend.fetcher();
  try {
    const states = await recoverStates(deps, fetcher, partition);
    const progress = await recoverProgress(deps, fetcher, partition, { start, states });
    const { begunUpTo, lastDelivery: upTo, ...found } = progress;
    deps.logger.info('sender_recovered', {
      partition,
      position: start.offset,
      foldFrom: start.foldFrom,
      known: found.byDelivery.size,
      remembered: states.size,
    });
    const begunBySubscription = new Map(
      [...begunUpTo].map(([subscriptionId, last]) => {
        return [subscriptionId, { upTo: last, foldFrom: foldFromOf(states.get(subscriptionId)) ?? start.foldFrom }];
      }),
    );
    const begun = { upTo, foldFrom: start.foldFrom };
    return { start, states, ...found, begun, begunBySubscription, readAt: momentNow(deps) };
  } finally {
    await fetcher.close();
  }
}

async function recoverStates(
  { backend, codecs }: SenderRecoveryDeps,
  fetcher: Fetcher,
  partition: number,
): Promise<Map<string, SubscriptionState>> {
  const states = new Map<string, SubscriptionState>();
  const log = { topic: topics.subscriptionState.name, partition };
  await readToEnd(backend, fetcher, log, 0, async ({ records }) => {
    await resolveBatch(codecs.subscriptionState, records);
    for (const { key, value } of records) {
      const subscriptionId = key?.toString() ?? '';
      if (value === null) states.delete(subscriptionId);
      else states.set(subscriptionId, readOwnRecord(topics.subscriptionState.name, codecs.subscriptionState, value));
    }
  });
  return states;
}

interface RecoveredProgress extends FoldedAttempts, Pick<RecoveredSender, 'attemptsEnd' | 'newestAppend'> {}

/** Folds the attempt log of a partition to find finished deliveries, and when the next attempt of the others is due. */
async function recoverProgress(
  { backend, codecs, nowMs }: SenderRecoveryDeps,
  fetcher: Fetcher,
  partition: number,
  from: { readonly start: CommitPoint; readonly states: ReadonlyMap<string, SubscriptionState> },
): Promise<RecoveredProgress> {
  const log = { topic: topics.webhookAttempts.name, partition };
  const deliveriesEnd = await backend.endOffset({ topic: topics.webhookDeliveries.name, partition });
  const recent = (await backend.offsetAt(log, Math.max(0, nowMs() - LONGEST_WAIT_MS))) ?? Infinity;
  const first = Math.min(firstToFold(from), recent);
  const fold = new AttemptFold({ startOffset: from.start.offset, deliveriesEnd, states: from.states });
  let newestAppend = -Infinity;
  const attemptsEnd = await readToEnd(backend, fetcher, log, first, async ({ records }) => {
    await resolveBatch(codecs.webhookAttempts, records);
    for (const { value, timestamp } of records) {
      newestAppend = Math.max(newestAppend, timestamp);
      const attempt = readIfUsable(codecs.webhookAttempts, value);
      if (attempt !== null) fold.add(attempt);
    }
  });
  return { ...fold.result(), attemptsEnd, newestAppend };
}

function firstToFold({ start, states }: Parameters<typeof recoverProgress>[3]): number {
  let first = start.foldFrom;
  for (const state of states.values()) first = Math.min(first, foldFromOf(state) ?? Infinity);
  return first;
}

function foldFromOf(state: SubscriptionState | undefined): number | null {
  return state?.known?.foldFrom ?? state?.foldFrom ?? null;
}

/** Finds where the sender resumes: the committed offset, whose metadata is the position to fold attempts from. */
async function senderPosition(backend: StreamsBackend, context: TaskContext): Promise<CommitPoint> {
  const { topic, partition } = context;
  const committed = await context.committedOffset();
  if (committed) return { offset: committed.offset, foldFrom: foldPosition(committed.metadata) };
  return { offset: await backend.startOffset({ topic, partition }), foldFrom: 0 };
}

function foldPosition(metadata: string): number {
  if (/^\d+$/.test(metadata)) return Number(metadata);
  throw new StreamsError('CORRUPT_STATE', `The committed offset of the sender has no fold position: "${metadata}".`);
}
