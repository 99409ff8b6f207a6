import type { TopicPartition } from '../record.js';
import { brokerError, ByteReader, int32 } from './bytes.js';
import { compactString, NO_TAGS, readString, skipString, skipTags, unsignedVarint } from './tagged-fields.js';

interface FoundOffset {
  /** -1: nothing is committed. */
  readonly offset: number;
  readonly metadata: string;
}

/**
 * OffsetFetch v7 (Kafka 2.5) of one partition, which kafkajs lacks. `stable`: refused with UNSTABLE_OFFSET_COMMIT while a
 * transaction has a position of it. Otherwise the previous one is returned, even after the transaction was committed,
 * until its markers are written.
 */
export function committedOffsetRequest(groupId: string, { topic, partition }: TopicPartition, stable: boolean) {
  const payload = Buffer.concat([
    NO_TAGS,
    compactString(groupId),
    unsignedVarint(2), // one topic
    compactString(topic),
    unsignedVarint(2), // one partition
    int32(partition),
    NO_TAGS,
    Buffer.from([Number(stable)]),
    NO_TAGS,
  ]);
  return { apiKey: 9, apiVersion: 7, apiName: 'OffsetFetch', payload, decode };
}

/** Throws the error code of the group or of the partition. */
function decode(payload: Buffer): FoundOffset {
  const reader = new ByteReader(payload);
  skipTags(reader);
  reader.int32(); // throttle time
  let found: FoundOffset & { readonly errorCode: number } = { offset: -1, metadata: '', errorCode: 0 };
  for (let topics = reader.unsignedVarint() - 1; topics > 0; topics--) {
    skipString(reader);
    for (let partitions = reader.unsignedVarint() - 1; partitions > 0; partitions--) found = readPartition(reader);
    skipTags(reader);
  }
  const code = reader.int16() || found.errorCode;
  if (code !== 0) throw brokerError(code);
  return found;
}

function readPartition(reader: ByteReader): FoundOffset & { readonly errorCode: number } {
  reader.int32(); // partition
  const offset = reader.int64();
  reader.int32(); // leader epoch
  const metadata = readString(reader);
  const errorCode = reader.int16();
  skipTags(reader);
  return { offset, metadata, errorCode };
}
