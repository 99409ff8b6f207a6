import { type AvroCodecs, type SubjectCodec, topics } from '@waypost/contracts';
import type { ReplayProgress, WebhookReplay } from '@waypost/domain';
import type { OutgoingRecord, StreamRecord } from '@waypost/streams';
import { toError, type TransactionalProducer } from '@waypost/streams/admin';
import { readOwnRecord } from '../process/read-own-record.js';

/** Writes the records of the replays of a partition in grouped transactions; each `write` is atomic. */
export interface ReplayLog {
  /** Resolves when all records are committed. Rejects when the log can no longer be written. */
  write(records: readonly OutgoingRecord[]): Promise<void>;
  /** Resolves when no transaction is in flight. */
  drained(): Promise<void>;
}

export interface ReplayLogOptions {
  readonly producer: TransactionalProducer;
  /** Called when the log can no longer be written: the task must stop. */
  readonly onFailure: (error: Error) => void;
}

interface Entry {
  readonly records: readonly OutgoingRecord[];
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

export function createReplayLog({ producer, onFailure }: ReplayLogOptions): ReplayLog {
  let waiting: Entry[] = [];
  let writing: Promise<void> | null = null;
  let failure: Error | null = null;

  const writeAll = async (): Promise<void> => {
    let entries: Entry[] = [];
    try {
      while (waiting.length > 0) {
        entries = waiting;
        waiting = [];
        await producer.commit({ records: entries.flatMap(({ records }) => records) });
        for (const { resolve } of entries) resolve();
      }
    } catch (error) {
      failure = toError(error);
      for (const { reject } of [...entries, ...waiting]) reject(failure);
      waiting = [];
      onFailure(failure);
    } finally {
      writing = null;
    }
  };

  return {
    write: (records) =>
      new Promise((resolve, reject) => {
        if (failure) {
          reject(failure);
          return;
        }
        waiting.push({ records, resolve, reject });
        // Deferred by a microtask so that replays writing at the same time share the transaction.
        writing ??= Promise.resolve().then(writeAll);
      }),
    drained: async () => {
      while (writing) await writing;
    },
  };
}

export interface ReplayRecords {
  /** null: a tombstone. @throws StreamsError CORRUPT_STATE */
  readReplay(record: StreamRecord): WebhookReplay | null;
  /** null: a tombstone. @throws StreamsError CORRUPT_STATE */
  readProgress(record: StreamRecord): ReplayProgress | null;
  progress(progress: ReplayProgress): OutgoingRecord;
  progressTombstone(replayId: string): OutgoingRecord;
}

export function createReplayRecords(codecs: AvroCodecs, partition: number): ReplayRecords {
  const target = { topic: topics.replayProgress.name, partition };
  return {
    readReplay: (record) => read(topics.webhookReplays.name, record, codecs.webhookReplays),
    readProgress: (record) => read(topics.replayProgress.name, record, codecs.replayProgress),
    progress: (progress) => ({
      ...target,
      key: Buffer.from(progress.replayId),
      value: codecs.replayProgress.encode(progress),
    }),
    progressTombstone: (replayId) => ({ ...target, key: Buffer.from(replayId), value: null }),
  };
}

function read<T>(topic: string, { value }: StreamRecord, codec: SubjectCodec<T>): T | null {
  return value === null ? null : readOwnRecord(topic, codec, value);
}
