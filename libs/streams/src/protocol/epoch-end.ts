import type { TopicPartition } from '../record.js';
import { brokerError, ByteReader, int32, string } from './bytes.js';

const OFFSET_FOR_LEADER_EPOCH_API_KEY = 23;

/**
 * OffsetForLeaderEpoch v2 for one partition, which kafkajs lacks.
 * @param present the epoch that a broker must be leading in to answer; -1: any
 */
export function epochEndRequest(partition: TopicPartition, epoch: number, present: number) {
  return {
    apiKey: OFFSET_FOR_LEADER_EPOCH_API_KEY,
    apiVersion: 2,
    apiName: 'OffsetForLeaderEpoch',
    payload: encode(partition, epoch, present),
    decode,
  };
}

function encode({ topic, partition }: TopicPartition, epoch: number, present: number): Buffer {
  return Buffer.concat([int32(1), string(topic), int32(1), int32(partition), int32(present), int32(epoch)]);
}

/** @returns null: the log has no epochs. Throws the error code of a broker that does not lead in this epoch. */
function decode(payload: Buffer): number | null {
  const reader = new ByteReader(payload);
  reader.int32(); // throttle time
  const [answer = { errorCode: 0, end: -1 }] = reader.partitions(() => {
    const errorCode = reader.int16();
    reader.int32(); // partition
    reader.int32(); // the newest epoch up to the one asked for
    return { errorCode, end: reader.int64() };
  });
  const { errorCode, end } = answer;
  if (errorCode !== 0) throw brokerError(errorCode);
  return end < 0 ? null : end;
}
