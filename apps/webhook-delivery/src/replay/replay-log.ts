import type { OutgoingRecord, TransactionalProducer } from '@waypost/streams';

/** Writes what the replays of a partition hand in, in grouped transactions: what is handed in at once is in at once. */
export interface ReplayLog {
  /** Resolves when all of it is committed. Rejects when the log can no longer be written. */
  write(records: readonly OutgoingRecord[]): Promise<void>;
  /** Resolves when nothing is under way any more. */
  drained(): Promise<void>;
}

export interface ReplayLogOptions {
  readonly producer: TransactionalProducer;
  /** Nothing may go on as if the log could be written. */
  readonly onFailure: (error: Error) => void;
}

interface Entry {
  readonly records: readonly OutgoingRecord[];
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

export const createReplayLog = ({ producer, onFailure }: ReplayLogOptions): ReplayLog => {
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
      failure = error instanceof Error ? error : new Error(String(error));
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
        // One turn of the event loop later, so that replays that write together share the transaction.
        writing ??= Promise.resolve().then(writeAll);
      }),
    drained: async () => {
      while (writing) await writing;
    },
  };
};
