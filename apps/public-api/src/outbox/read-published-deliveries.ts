import { resolveBatch, type SubjectCodec, type WebhookDelivery } from '@waypost/contracts';
import type { OutboxRow } from '@waypost/management-store';
import { type Fetcher, readToEnd, type StreamsBackend } from '@waypost/streams';
import { OUTBOX_TOPICS, type PartitionCounts, partitionOf } from './outbox-record.js';
import { publishedKey, type PublishedVersion } from './published-versions.js';

export interface PublishedDeliveriesDeps {
  readonly backend: StreamsBackend;
  readonly fetcher: Fetcher;
  readonly codec: SubjectCodec<WebhookDelivery>;
  readonly counts: PartitionCounts;
}

/** The broker stamps records by its own clock; ours may be ahead of it by this much. */
const CLOCK_DIFFERENCE_MS = 5 * 60_000;

/**
 * Which of these deliveries are in the log. It is far too long to be read whole, but none of them can be there before it
 * was made, so reading starts at that time; and of what is read only the records of these subscriptions are decoded.
 */
export async function readPublishedDeliveries(
  deps: PublishedDeliveriesDeps,
  rows: readonly OutboxRow[],
): Promise<Map<string, PublishedVersion>> {
  const { backend, fetcher, codec, counts } = deps;
  const found = new Map<string, PublishedVersion>();
  for (const number of new Set(rows.map((row) => partitionOf(row, counts)))) {
    const waiting = rows.filter((row) => partitionOf(row, counts) === number);
    const partition = { topic: OUTBOX_TOPICS['webhook-delivery'], partition: number };
    const madeAt = Math.min(...waiting.map((row) => (row.value as WebhookDelivery).createdAt));
    const from = await backend.offsetAt(partition, madeAt - CLOCK_DIFFERENCE_MS);
    if (from === null) continue;
    const subscriptions = new Set(waiting.map((row) => row.key));
    await readToEnd(backend, fetcher, partition, from, async ({ records }) => {
      const candidates = [...records].filter((record) => subscriptions.has(record.key?.toString() ?? ''));
      await resolveBatch(codec, candidates);
      for (const { value } of candidates) {
        const decoded = value === null ? null : codec.decode(value);
        if (decoded?.type === 'decoded') found.set(nameOf(decoded.value), { type: 'once' });
      }
    });
  }
  return found;
}

const nameOf = ({ eventId }: WebhookDelivery): string => publishedKey('webhook-delivery', eventId);
