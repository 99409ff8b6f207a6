import type { StreamsLogger } from '../logger.js';
import { partitionName, type TopicPartition } from '../record.js';

const LOG_EVERY_MS = 3_000;

export interface RestoreProgressOptions {
  readonly name: string;
  readonly changelog: TopicPartition;
  readonly store: { readonly size: number };
  /** Where the reading begins, and where it will end. */
  readonly from: number;
  readonly end: number;
  readonly logger: StreamsLogger;
  readonly now: () => number;
}

export interface RestoreProgress {
  /** `position` lies behind them. */
  readonly taken: (records: number, position: number) => void;
  records(): number;
}

/** Counts what a restore has read, and tells it every few seconds. */
export const createRestoreProgress = (options: RestoreProgressOptions): RestoreProgress => {
  const { name, changelog, store, from, end, logger, now } = options;
  const startedAt = now();
  const keysBefore = store.size;
  let records = 0;
  let toldAt = startedAt;
  const tell = (position: number, at: number): void => {
    logger.info('store_restoring', {
      store: name,
      changelog: partitionName(changelog),
      keys: store.size,
      percent: Math.floor((100 * (position - from)) / (end - from)),
      keysPerSecond: Math.round(((store.size - keysBefore) * 1_000) / (at - startedAt)),
    });
  };
  return {
    taken: (count, position) => {
      records += count;
      const at = now();
      if (at - toldAt < LOG_EVERY_MS) return;
      toldAt = at;
      tell(position, at);
    },
    records: () => records,
  };
};
