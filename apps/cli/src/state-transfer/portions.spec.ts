import { Readable } from 'node:stream';
import { describe, expect, it } from '@jest/globals';
import { portionsOf } from './portions.js';
import type { StateRecord } from './state-file.js';

const MEBIBYTE = 1_048_576;

function record(topic: string, key: string, bytes: number): StateRecord {
  return { topic, key, timestamp: 0, value: Buffer.alloc(bytes) };
}

async function portions(records: readonly StateRecord[]): Promise<[string, StateRecord[]][]> {
  const found: [string, StateRecord[]][] = [];
  for await (const portion of portionsOf(Readable.from(records))) found.push(portion);
  return found;
}

describe('the portions of a state file', () => {
  it('hold every record once, in order, and each has one topic', async () => {
    const records = Array.from({ length: 1_300 }, (_, n) => record(n < 700 ? 'a' : 'b', String(n), 10));
    const found = await portions(records);

    expect(found.flatMap(([, of]) => of)).toEqual(records);
    for (const [topic, of] of found) expect(new Set(of.map((one) => one.topic))).toEqual(new Set([topic]));
    expect(found.map(([, of]) => of.length)).toEqual([500, 200, 500, 100]);
  });

  it('are small enough for a batch of the topic, however large the records are, and no smaller', async () => {
    const found = await portions(Array.from({ length: 100 }, (_, n) => record('a', String(n), 300_000)));
    for (const [, of] of found)
      expect(of.reduce((sum, { value }) => sum + (value?.length ?? 0), 0)).toBeLessThanOrEqual(MEBIBYTE);
    expect(found.map(([, of]) => of.length)).toEqual([...Array.from({ length: 33 }, () => 3), 1]);
  });

  it('are of one record that alone is larger', async () => {
    const found = await portions([record('a', '1', 10), record('a', '2', 2 * MEBIBYTE), record('a', '3', 10)]);
    expect(found.map(([, of]) => of.map(({ key }) => key))).toEqual([['1'], ['2'], ['3']]);
  });

  it('are none of an empty file', async () => {
    expect(await portions([])).toEqual([]);
  });
});
