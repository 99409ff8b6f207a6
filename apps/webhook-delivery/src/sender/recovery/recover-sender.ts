import { type AvroCodecs, resolveBatch, topics } from '@waypost/contracts';
import {
  DELIVERY_UNSTARTED,
  deliveryFold,
  type DeliveryProgress,
  isFoldable,
  MAX_RETRY_DELAY_MS,
  PROBE_EVERY_MS,
  type SubscriptionState,
  type WebhookAttempt,
} from '@waypost/domain';
import { type StreamsBackend, StreamsError, type StreamsLogger, type TaskContext } from '@waypost/streams';
import { type Fetcher, readToEnd } from '@waypost/streams/admin';
import { type Clocks, type Moment, momentNow } from '../../process/clocks.js';
import { readIfUsable, readOwnRecord } from '../../process/read-own-record.js';
import type { BegunDeliveries, CommitPoint } from '../backlogs/partition-backlogs.js';
import { progressOfKnown } from './known-deliveries.js';

export interface RecoveredSender {
  readonly start: CommitPoint;
  readonly states: ReadonlyMap<string, SubscriptionState>;
  /** Progress by offset of the delivery; an entry may be removed once its delivery has been taken in. */
  readonly byDelivery: Map<number, DeliveryProgress>;
  readonly begun: BegunDeliveries;
  readonly begunBySubscription: ReadonlyMap<string, BegunDeliveries>;
  readonly waits: ReadonlyMap<string, RecoveredWait>;
  /** The last attempt accepted since the outage recorded in the subscription's state. */
  readonly accepted: ReadonlyMap<string, WebhookAttempt>;
  readonly attemptsEnd: number;
  /** The newest append time of an attempt, by the broker's clock; -Infinity: there is none. */
  readonly newestAppend: number;
  /** When the log was read: its due times count from here, however late their deliveries are taken in. */
  readonly readAt: Moment;
}

/** The waits of a subscription that follow from its recent attempts. Epoch ms. */
export interface RecoveredWait {
  /** When its last probe started. */
  readonly probedAt: number | null;
  /** No first attempt starts before this (Retry-After, R-22). */
  readonly notBefore: number;
}

export interface SenderRecoveryParts extends Clocks {
  readonly backend: StreamsBackend;
  readonly codecs: AvroCodecs;
  readonly logger: StreamsLogger;
}

/** A wait that is not over comes from a record appended within this time. */
const LONGEST_WAIT_MS = Math.max(PROBE_EVERY_MS, MAX_RETRY_DELAY_MS);

export async function recoverSender(parts: SenderRecoveryParts, context: TaskContext): Promise<RecoveredSender> {
  const { partition } = context;
  const start = await senderPosition(parts.backend, context);
  const fetcher = parts.backend.fetcher();
  try {
    const states = await recoverStates(parts, fetcher, partition);
    const progress = await recoverProgress(parts, fetcher, partition, { start, states });
    const { begunUpTo, lastDelivery: upTo, ...found } = progress;
    parts.logger.info('sender_recovered', {
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
    return { start, states, ...found, begun, begunBySubscription, readAt: momentNow(parts) };
  } finally {
    await fetcher.close();
  }
}

async function recoverStates(
  { backend, codecs }: SenderRecoveryParts,
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

interface RecoveredProgress {
  /** Progress by offset of the delivery; absent: no attempt was logged, or none is part of known progress. */
  readonly byDelivery: Map<number, DeliveryProgress>;
  /** The highest delivery with an attempt, by subscription. */
  readonly begunUpTo: ReadonlyMap<string, number>;
  /** The highest delivery with an attempt; -1: none. */
  readonly lastDelivery: number;
  readonly waits: ReadonlyMap<string, RecoveredWait>;
  readonly accepted: ReadonlyMap<string, WebhookAttempt>;
  /** The position after the last attempt. */
  readonly attemptsEnd: number;
  /** The newest append time that was read; -Infinity: none. */
  readonly newestAppend: number;
}

/** Folds the attempt log of a partition to find finished deliveries, and when the next attempt of the others is due. */
async function recoverProgress(
  { backend, codecs, nowMs }: SenderRecoveryParts,
  fetcher: Fetcher,
  partition: number,
  from: { readonly start: CommitPoint; readonly states: ReadonlyMap<string, SubscriptionState> },
): Promise<RecoveredProgress> {
  const byDelivery = new Map([...from.states.values()].flatMap((state) => [...progressOfKnown(state)]));
  const begunUpTo = new Map<string, number>();
  const waits = new Map<string, RecoveredWait>();
  const accepted = new Map<string, WebhookAttempt>();
  let lastDelivery = -1;
  let newestAppend = -Infinity;
  const log = { topic: topics.webhookAttempts.name, partition };
  // Offsets beyond the end of the log are bogus: a delivery is in the log before it is sent.
  const deliveriesEnd = await backend.endOffset({ topic: topics.webhookDeliveries.name, partition });
  const recent = (await backend.offsetAt(log, Math.max(0, nowMs() - LONGEST_WAIT_MS))) ?? Infinity;
  const first = Math.min(firstToFold(from), recent);
  const attemptsEnd = await readToEnd(backend, fetcher, log, first, async ({ records }) => {
    await resolveBatch(codecs.webhookAttempts, records);
    for (const { value, timestamp } of records) {
      newestAppend = Math.max(newestAppend, timestamp);
      const attempt = readIfUsable(codecs.webhookAttempts, value);
      if (attempt === null || !isFoldable(attempt) || attempt.deliveryOffset >= deliveriesEnd) continue;
      const { subscriptionId, deliveryOffset } = attempt;
      const wait = waitAfter(attempt, waits.get(subscriptionId));
      if (wait) waits.set(subscriptionId, wait);
      const since = outageSince(from.states.get(subscriptionId));
      if (endsOutage(attempt, since)) accepted.set(subscriptionId, attempt);
      else if (beginsOutage(attempt, since)) accepted.delete(subscriptionId);
      // Applies to held subscriptions too: after the hold, only this attempt shows that the delivery is finished.
      if (deliveryOffset >= from.start.offset) lastDelivery = Math.max(lastDelivery, deliveryOffset);
      // Everything below is finished.
      if (deliveryOffset < (from.states.get(subscriptionId)?.parkedFrom ?? from.start.offset)) continue;
      lastDelivery = Math.max(lastDelivery, deliveryOffset);
      begunUpTo.set(subscriptionId, Math.max(begunUpTo.get(subscriptionId) ?? -1, deliveryOffset));
      byDelivery.set(deliveryOffset, deliveryFold(byDelivery.get(deliveryOffset) ?? DELIVERY_UNSTARTED, attempt));
    }
  });
  return { byDelivery, begunUpTo, lastDelivery, waits, accepted, attemptsEnd, newestAppend };
}

function waitAfter(
  { probe, startedAt, durationMs, retryAfterMs }: WebhookAttempt,
  before: RecoveredWait | undefined,
): RecoveredWait | undefined {
  if (!probe && retryAfterMs === null) return before;
  const notBefore = retryAfterMs === null ? 0 : startedAt + durationMs + retryAfterMs;
  return {
    probedAt: probe ? startedAt : (before?.probedAt ?? null),
    notBefore: Math.max(before?.notBefore ?? 0, notBefore),
  };
}

function outageSince(state: SubscriptionState | undefined): number | null {
  return state?.suspendedAt ?? state?.failingSince ?? null;
}

/** An attempt may be logged while the sender closes, or just before it dies, too late for the state record. */
function endsOutage({ outcome, startedAt, durationMs }: WebhookAttempt, since: number | null): boolean {
  return since !== null && outcome === 'delivered' && startedAt + durationMs > since;
}

/** Any acceptance logged before this failure predates the outage, even if a clock that was ahead dated it later. */
function beginsOutage({ outcome, startedAt, durationMs }: WebhookAttempt, since: number | null): boolean {
  return since !== null && outcome !== 'delivered' && startedAt + durationMs <= since;
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
