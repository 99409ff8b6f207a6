import { readRepublishedHeader, type RejectedOrigin } from '@waypost/contracts';
import type { StreamRecord, TopicPartition } from '@waypost/streams';

/** Where the record was that it is a copy of, or where it is itself. */
export function originOf({ offset, timestamp, headers }: Omit<StreamRecord, 'key' | 'value'>): RejectedOrigin {
  return readRepublishedHeader(headers) ?? { offset, timestamp };
}

/** Names an original and its copies, and nothing else. */
export function originName(
  { topic, partition }: TopicPartition,
  key: Buffer | null,
  { offset, timestamp }: RejectedOrigin,
): string {
  return JSON.stringify([topic, partition, offset, timestamp, key?.toString('base64')]);
}
