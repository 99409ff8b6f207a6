import { describe, expect, it } from '@jest/globals';
import type { StreamRecord } from '../record.js';
import { nextPart } from './next-part.js';
import { TaskInput } from './task-input.js';

const RECORDS = 1_000;

/** `onCopy` gets how many of the records a slice copies, and a slice of a slice. */
function counted(records: StreamRecord[], onCopy: (records: number) => void): StreamRecord[] {
  const slice = (from?: number, to?: number): StreamRecord[] => {
    const copy = Array.prototype.slice.call(records, from, to) as StreamRecord[];
    onCopy(copy.length);
    return counted(copy, onCopy);
  };
  return Object.assign(records, { slice });
}

/** Holds a record for every second millisecond. */
function inputOf(topic: string, firstMs: number, onCopy: (records: number) => void): TaskInput {
  const records = Array.from({ length: RECORDS }, (_, offset) => {
    return { offset, timestamp: firstMs + 2 * offset, key: null, value: null };
  });
  const input = new TaskInput({ topic, partition: 0 }, undefined);
  const ends = { nextOffset: RECORDS, highWatermark: RECORDS, lastStableOffset: RECORDS };
  input.held = { topic, partition: 0, records: counted(records, onCopy), ...ends };
  // It was at its end: what is left is not waited for.
  input.isBehind = false;
  return input;
}

describe('the parts of several inputs', () => {
  it('copy each record once, however short they are', async () => {
    let copied = 0;
    const inputs = ['orders', 'payments'].map((topic, n) => inputOf(topic, n, (records) => (copied += records)));
    const times: number[] = [];
    for (let part = 0; part < 2 * RECORDS; part++) {
      const next = await nextPart(inputs, 0, () => undefined);
      times.push(...(next?.batch.records ?? []).map(({ timestamp }) => timestamp));
    }
    expect(times).toEqual(Array.from({ length: 2 * RECORDS }, (_, n) => n));
    expect(copied).toBeLessThanOrEqual(2 * RECORDS);
  });
});
