import type { RejectedTelemetry } from '@waypost/contracts';
import type { StreamRecord, TopicPartition } from '@waypost/streams';

export interface Rejection {
  readonly reason: string;
  readonly detail: string;
}

const MAX_DETAIL_CHARACTERS = 500;

/** The quarantined form of a record: what it was, where it lay, and why it was refused. */
export const rejectedRecord = (
  { topic, partition }: TopicPartition,
  { offset, timestamp, key, value }: StreamRecord,
  { reason, detail }: Rejection,
): RejectedTelemetry => ({
  sourceTopic: topic,
  sourcePartition: partition,
  sourceOffset: offset,
  sourceTimestamp: timestamp,
  sourceKey: key,
  sourceValue: value,
  reason,
  detail: detail.slice(0, MAX_DETAIL_CHARACTERS),
});
