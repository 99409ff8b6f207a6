import { resolveBatch, topics, type AvroCodecs, type WebhookAttempt } from '@waypost/contracts';
import { DELIVERY_UNSTARTED, deliveryFold, type DeliveryProgress } from '@waypost/domain';
import { readToEnd, StreamsError, type StreamsBackend } from '@waypost/streams';

export interface RecoveredProgress {
  /** By the delivery's offset; absent: no attempt was logged. */
  readonly byDelivery: Map<number, DeliveryProgress>;
  /** The highest delivery offset of which an attempt was found; -1: none. */
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
  partition: number,
  from: { readonly foldFrom: number; readonly deliveryOffset: number },
): Promise<RecoveredProgress> => {
  const byDelivery = new Map<number, DeliveryProgress>();
  let lastDelivery = -1;
  const fetcher = backend.fetcher();
  try {
    const log = { topic: topics.webhookAttempts.name, partition };
    const attemptsEnd = await readToEnd(backend, fetcher, log, from.foldFrom, async ({ records }) => {
      await resolveBatch(codecs.webhookAttempts, records);
      for (const { value } of records) {
        const attempt = readAttempt(codecs, value);
        if (attempt.deliveryOffset < from.deliveryOffset) continue;
        lastDelivery = Math.max(lastDelivery, attempt.deliveryOffset);
        const before = byDelivery.get(attempt.deliveryOffset) ?? DELIVERY_UNSTARTED;
        byDelivery.set(attempt.deliveryOffset, deliveryFold(before, attempt));
      }
    });
    return { byDelivery, lastDelivery, attemptsEnd };
  } finally {
    await fetcher.close();
  }
};

const readAttempt = (codecs: AvroCodecs, value: Buffer | null): WebhookAttempt => {
  const decoded = value && codecs.webhookAttempts.decode(value);
  if (decoded?.type === 'decoded') return decoded.value;
  throw new StreamsError('CORRUPT_STATE', `An attempt of our own log cannot be read: ${decoded?.type ?? 'no value'}.`);
};
