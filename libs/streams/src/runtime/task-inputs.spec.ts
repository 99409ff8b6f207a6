import { describe, expect, it } from '@jest/globals';
import { StreamRecord, type TopicPartition } from '../record.js';
import { createMemoryBackend } from '../testing/memory-backend.js';
import { TaskInputs } from './task-inputs.js';

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

/** Each holds a record for every second millisecond. */
function inputsOf(topics: readonly [string, string], onCopy: (records: number) => void): TaskInputs {
  const [first, second] = topics.map((topic) => ({ topic, partition: 0 })) as [TopicPartition, TopicPartition];
  const backend = createMemoryBackend({ topics: {}, now: () => 0 });
  const inputs = new TaskInputs([first, second], backend.fetcher(), undefined);
  for (const [n, input] of inputs.all.entries()) {
    const records = Array.from({ length: RECORDS }, (_, offset) => {
      return StreamRecord.of({ offset, timestamp: n + 2 * offset, key: null, value: null });
    });
    const ends = { nextOffset: RECORDS, highWatermark: RECORDS, lastStableOffset: RECORDS };
    input.held = { ...input.partition, records: counted(records, onCopy), ...ends };
    // The input was at its end, so the rest is not waited for.
    input.isBehind = false;
  }
  return inputs;
}

describe('the parts of several inputs', () => {
  it('copy each record once, however short they are', async () => {
    let copied = 0;
    const inputs = inputsOf(['orders', 'payments'], (records) => (copied += records));
    const times: number[] = [];
    for (let part = 0; part < 2 * RECORDS; part++) {
      const next = await inputs.next();
      times.push(...(next?.batch.records ?? []).map(({ timestamp }) => timestamp));
    }
    expect(times).toEqual(Array.from({ length: 2 * RECORDS }, (_, n) => n));
    expect(copied).toBeLessThanOrEqual(2 * RECORDS);
  });
});
