import { createHash } from 'node:crypto';
import { readRepublishedHeader, type RejectedOrigin } from '@waypost/contracts';
import type { StreamRecord, TopicPartition } from '@waypost/streams';

/** Where the record was that it is a copy of, or where it is itself. */
export function originOf({
  offset,
  timestamp,
  headers,
}: Pick<StreamRecord, 'offset' | 'timestamp' | 'headers'>): RejectedOrigin {
  return readRepublishedHeader(headers) ?? { offset, timestamp };
}

/** Names an original and its copies, which have the same bytes, and nothing else: any producer can set their header. */
export function originName(
  { topic, partition }: TopicPartition,
  { key, value }: { readonly key: Buffer | null; readonly value: Buffer | null },
  { offset, timestamp }: RejectedOrigin,
): string {
  const digest = value && createHash('sha256').update(value).digest('base64');
  return JSON.stringify([topic, partition, offset, timestamp, key?.toString('base64'), digest]);
}
