import { resolveBatch, topics, type AvroCodecs, type SubscriptionState, type WebhookAttempt } from '@waypost/contracts';
import { DELIVERY_UNSTARTED, deliveryFold, type DeliveryProgress } from '@waypost/domain';
import { readToEnd, StreamsError, type Fetcher, type StreamsBackend } from '@waypost/streams';
import type { CommitPoint } from './partition-queues.js';

export interface RecoveredProgress {
  /** By the delivery's offset; absent: no attempt was logged. */
  readonly byDelivery: Map<number, DeliveryProgress>;
  /** The highest delivery of each subscription of which an attempt was found. */
  readonly begunUpTo: ReadonlyMap<string, number>;
  /** Of all; -1: none. */
  readonly lastDelivery: number;
  /** Position behind the last attempt. */
  readonly attemptsEnd: number;
}

export interface RecoveryParts {
  readonly backend: StreamsBackend;
  readonly codecs: AvroCodecs;
}

/** Folds the attempts log of a partition: which deliveries are finished, which attempt of the others is next and when. */
export const recoverProgress = async (
  { backend, codecs }: RecoveryParts,
  fetcher: Fetcher,
  partition: number,
  from: { readonly start: CommitPoint; readonly states: ReadonlyMap<string, SubscriptionState> },
): Promise<RecoveredProgress> => {
  const byDelivery = new Map<number, DeliveryProgress>();
  const begunUpTo = new Map<string, number>();
  let lastDelivery = -1;
  const log = { topic: topics.webhookAttempts.name, partition };
  const attemptsEnd = await readToEnd(backend, fetcher, log, firstToFold(from), async ({ records }) => {
    await resolveBatch(codecs.webhookAttempts, records);
    for (const { value } of records) {
      const attempt = readAttempt(codecs, value);
      const { subscriptionId, deliveryOffset } = attempt;
      // Below, everything is finished and will not be read again.
      if (deliveryOffset < (from.states.get(subscriptionId)?.parkedFrom ?? from.start.offset)) continue;
      lastDelivery = Math.max(lastDelivery, deliveryOffset);
      begunUpTo.set(subscriptionId, Math.max(begunUpTo.get(subscriptionId) ?? -1, deliveryOffset));
      byDelivery.set(deliveryOffset, deliveryFold(byDelivery.get(deliveryOffset) ?? DELIVERY_UNSTARTED, attempt));
    }
  });
  return { byDelivery, begunUpTo, lastDelivery, attemptsEnd };
};

const firstToFold = ({ start, states }: Parameters<typeof recoverProgress>[3]): number => {
  let first = start.foldFrom;
  for (const { foldFrom } of states.values()) if (foldFrom !== null) first = Math.min(first, foldFrom);
  return first;
};

const readAttempt = (codecs: AvroCodecs, value: Buffer | null): WebhookAttempt => {
  const decoded = value && codecs.webhookAttempts.decode(value);
  if (decoded?.type === 'decoded') return decoded.value;
  throw new StreamsError('CORRUPT_STATE', `An attempt of our own log cannot be read: ${decoded?.type ?? 'no value'}.`);
};
