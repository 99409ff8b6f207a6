import type { StreamRecord, TopicPartition } from '@waypost/streams';

/** A name of a record that no other has, not even in a topic that was deleted and made again. */
export function originOf(
  { topic, partition }: TopicPartition,
  { offset, timestamp, key }: Pick<StreamRecord, 'offset' | 'timestamp' | 'key'>,
): string {
  return JSON.stringify([topic, partition, offset, timestamp, key?.toString('base64')]);
}
