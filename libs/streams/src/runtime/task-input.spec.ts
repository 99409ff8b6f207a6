import { expect, it } from '@jest/globals';
import type { Fetcher } from '../backend/backend.js';
import { UndecodedBatch } from '../errors.js';
import type { RecordBatch } from '../record.js';
import { TaskInput } from './task-input.js';

it('is behind after what can be read of a batch that is corrupt further on', async () => {
  const undecoded = { partition: 'orders-0', offset: 1, nextOffset: 2, timestamp: 0 };
  const batch: RecordBatch = {
    topic: 'orders',
    partition: 0,
    records: [],
    *slices() {
      yield [{ offset: 0, timestamp: 0, key: null, value: null }];
      throw new UndecodedBatch('CORRUPT_BATCH', 'no batch', undecoded, null);
    },
    nextOffset: 2,
    highWatermark: 2,
    lastStableOffset: 2,
  };
  const fetcher: Fetcher = {
    open: () => ({ next: () => Promise.resolve(batch), close: () => undefined }),
    close: () => Promise.resolve(),
  };
  const input = new TaskInput({ topic: 'orders', partition: 0 }, undefined);
  input.open(fetcher, 0);
  expect(await input.arrival(1_000)).toBe(true);
  expect(await input.take(true)).toMatchObject({ nextOffset: 1 });
  expect(input.isBehind).toBe(true);
});
