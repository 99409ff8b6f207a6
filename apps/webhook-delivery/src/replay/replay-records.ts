import { topics, type AvroCodecs, type SubjectCodec } from '@waypost/contracts';
import type { ReplayProgress, WebhookReplay } from '@waypost/domain';
import { StreamsError, type OutgoingRecord, type StreamRecord } from '@waypost/streams';

/** What the tasks of a partition read and write of replays. */
export interface ReplayRecords {
  /** null: a tombstone. @throws StreamsError CORRUPT_STATE */
  readReplay(record: StreamRecord): WebhookReplay | null;
  /** null: a tombstone. @throws StreamsError CORRUPT_STATE */
  readProgress(record: StreamRecord): ReplayProgress | null;
  progress(progress: ReplayProgress): OutgoingRecord;
  noProgress(replayId: string): OutgoingRecord;
}

export const createReplayRecords = (codecs: AvroCodecs, partition: number): ReplayRecords => {
  const target = { topic: topics.replayProgress.name, partition };
  return {
    readReplay: (record) => read(topics.webhookReplays.name, record, codecs.webhookReplays),
    readProgress: (record) => read(topics.replayProgress.name, record, codecs.replayProgress),
    progress: (progress) => ({
      ...target,
      key: Buffer.from(progress.replayId),
      value: codecs.replayProgress.encode(progress),
    }),
    noProgress: (replayId) => ({ ...target, key: Buffer.from(replayId), value: null }),
  };
};

const read = <T>(topic: string, { offset, value }: StreamRecord, codec: SubjectCodec<T>): T | null => {
  if (value === null) return null;
  const decoded = codec.decode(value);
  if (decoded.type === 'decoded') return decoded.value;
  throw new StreamsError('CORRUPT_STATE', `The record at offset ${String(offset)} of ${topic} is ${decoded.type}.`);
};
