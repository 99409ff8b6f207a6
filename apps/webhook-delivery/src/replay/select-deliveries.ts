import { resolveBatch, topics, type AvroCodecs, type WebhookAttempt } from '@waypost/contracts';
import { isReplayed, replayStatusOf, type WebhookReplay } from '@waypost/domain';
import { StreamsError, type StreamRecord, type StreamsBackend } from '@waypost/streams';
import { createDeliveryMarks, type Selection } from './delivery-marks.js';
import { untilAborted } from './until-aborted.js';

export interface SelectionParts {
  readonly backend: StreamsBackend;
  readonly codecs: AvroCodecs;
  readonly partition: number;
}

/** A sender's clock may be so far ahead of the broker's, which stamps the log. */
const CLOCK_SKEW_MS = 60_000;

/**
 * Which deliveries a replay sends again: folds the attempts before `attemptsEnd`, so that it is the same whenever it is
 * asked, for as long as the log keeps them.
 */
export const selectDeliveries = async (
  { backend, codecs, partition }: SelectionParts,
  replay: WebhookReplay,
  attemptsEnd: number,
  signal: AbortSignal,
): Promise<Selection> => {
  const marks = createDeliveryMarks();
  const log = { topic: topics.webhookAttempts.name, partition };
  const from = await backend.offsetAt(log, Math.max(0, replay.startDate - CLOCK_SKEW_MS));
  const key = Buffer.from(replay.subscriptionId);
  const fetcher = backend.fetcher();
  try {
    let position = from ?? attemptsEnd;
    if (position < attemptsEnd) {
      const feed = fetcher.open(log, position);
      while (position < attemptsEnd) {
        const batch = await untilAborted(feed.next(), signal);
        const ours = batch.records.filter((record) => record.offset < attemptsEnd && record.key?.equals(key) === true);
        await resolveBatch(codecs.webhookAttempts, ours);
        for (const record of ours) {
          const attempt = readAttempt(codecs, record);
          const status = replayStatusOf(replay, attempt);
          if (status !== null) marks.mark(attempt.deliveryOffset, status);
        }
        position = batch.nextOffset;
      }
    }
  } finally {
    await fetcher.close();
  }
  return marks.select((status) => isReplayed(replay, status));
};

/** @throws StreamsError CORRUPT_STATE: what we wrote ourselves must be readable */
export const readAttempt = (codecs: AvroCodecs, { offset, value }: StreamRecord): WebhookAttempt => {
  const decoded = value && codecs.webhookAttempts.decode(value);
  if (decoded?.type === 'decoded') return decoded.value;
  const what = decoded?.type ?? 'no value';
  throw new StreamsError('CORRUPT_STATE', `The attempt at offset ${String(offset)} of our own log is ${what}.`);
};
