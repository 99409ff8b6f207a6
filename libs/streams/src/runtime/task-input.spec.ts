import { expect, it } from '@jest/globals';
import { flushed } from '../../../../test/support/until.js';
import type { Fetcher } from '../backend/backend.js';
import { UndecodedBatch } from '../errors.js';
import { type RecordBatch, StreamRecord } from '../record.js';
import { TaskInput } from './task-input.js';

it('is behind after what can be read of a batch that is corrupt further on', async () => {
  const undecoded = { partition: 'orders-0', offset: 1, nextOffset: 2, timestamp: 0 };
  const batch: RecordBatch = {
    topic: 'orders',
    partition: 0,
    records: [],
    *slices() {
      yield [StreamRecord.of({ offset: 0, timestamp: 0, key: null, value: null })];
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
  const input = new TaskInput({ topic: 'orders', partition: 0 }, fetcher, undefined);
  input.open(0);
  expect(await input.arrival(1_000)).toBe(true);
  await input.hold(true);
  expect(input.held).toMatchObject({ nextOffset: 1 });
  expect(input.isBehind).toBe(true);
});

it('takes no more of a batch than memory allows, and reads the rest again', async () => {
  const unpacked: number[] = [];
  const batch: RecordBatch = {
    topic: 'orders',
    partition: 0,
    records: [],
    *slices() {
      for (const offset of [0, 1, 2, 3]) {
        unpacked.push(offset);
        yield [new StreamRecord(offset, 0, Buffer.alloc(20 * 1024 * 1024), -1, -1, 0, 1)];
      }
    },
    nextOffset: 4,
    highWatermark: 4,
    lastStableOffset: 4,
  };
  const opened: number[] = [];
  const fetcher: Fetcher = {
    open: (_partition, position) => {
      opened.push(position);
      return { next: () => Promise.resolve(batch), close: () => undefined };
    },
    close: () => Promise.resolve(),
  };
  const input = new TaskInput({ topic: 'orders', partition: 0 }, fetcher, undefined);
  input.open(0);
  expect(await input.arrival(1_000)).toBe(true);
  await input.hold(true);
  expect(input.held?.records.map(({ offset }) => offset)).toEqual([0, 1]);
  expect([input.held?.nextOffset, opened, unpacked]).toEqual([2, [0, 2], [0, 1]]);
  expect(input.isBehind).toBe(true);
});

/** A reader whose reads end when the test says. */
function readOnDemand() {
  const reads: ((batch: RecordBatch) => void)[] = [];
  const fetcher: Fetcher = {
    open: () => ({ next: () => new Promise((resolve) => reads.push(resolve)), close: () => undefined }),
    close: () => Promise.resolve(),
  };
  const batchOf = (offset: number): RecordBatch => ({
    topic: 'orders',
    partition: 0,
    records: [StreamRecord.of({ offset, timestamp: 0, key: null, value: null })],
    nextOffset: offset + 1,
    highWatermark: 10,
    lastStableOffset: 10,
  });
  return { fetcher, reads, batchOf };
}

it('gives a rebuilt task nothing that was read for the one before it', async () => {
  const { fetcher, reads, batchOf } = readOnDemand();
  const input = new TaskInput({ topic: 'orders', partition: 0 }, fetcher, undefined);
  input.open(5);
  const arrival = input.arrival(5);
  expect(await arrival).toBe(false);

  input.open(2);
  expect(await input.arrival(5)).toBe(false);
  reads[0]?.(batchOf(5));
  await flushed();
  await input.hold(false);
  expect(input.held).toBeNull();
  reads[1]?.(batchOf(2));
  await flushed();
  await input.hold(false);
  expect(input.held?.records.map(({ offset }) => offset)).toEqual([2]);
});

it('gives a rebuilt task nothing that the one before it had left of a batch', async () => {
  const { fetcher, reads, batchOf } = readOnDemand();
  const input = new TaskInput({ topic: 'orders', partition: 0 }, fetcher, undefined);
  input.open(5);
  await input.arrival(5);
  reads[0]?.(batchOf(5));
  await flushed();
  await input.hold(true);
  expect(input.held).not.toBeNull();

  input.open(2);
  expect(input.held).toBeNull();
});
