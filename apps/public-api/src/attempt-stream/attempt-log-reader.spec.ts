import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { createAvroCodecs, topics } from '@waypost/contracts';
import { slicesOf, type StreamsBackend } from '@waypost/streams';
import type { Fetcher } from '@waypost/streams/admin';
import { createMemoryBackend } from '@waypost/streams/testing';
import { createMemoryRegistry } from '../../../../test/support/registry/memory-registry.js';
import { createAttemptLog } from './attempt-log-reader.js';

const TOPIC = topics.webhookAttempts.name;
const RECORDS = 2_000;

/** Fetchers whose batches can be read slice by slice, and not as a whole. */
function slicedOnly(memory: StreamsBackend): StreamsBackend['fetcher'] {
  return () => {
    const fetcher = memory.fetcher();
    const open: Fetcher['open'] = (partition, position) => {
      const feed = fetcher.open(partition, position);
      const next = async () => {
        const batch = await feed.next();
        return {
          ...batch,
          get records(): never {
            throw new Error('The whole batch was decoded.');
          },
          slices: (most: number) => slicesOf(batch, most),
        };
      };
      return { next, close: () => feed.close() };
    };
    return { open, close: () => fetcher.close() };
  };
}

describe('the attempt log', () => {
  it('is read by slices in a turn of the event loop each, for all streams that are behind (R-26)', async () => {
    const backend = createMemoryBackend({ topics: { [TOPIC]: 1 }, now: () => 0 });
    for (let n = 0; n < RECORDS; n += 1)
      backend.append({ topic: TOPIC, partition: 0 }, { key: null, value: Buffer.from('no attempt') });
    const codecs = createAvroCodecs({ registry: createMemoryRegistry() });
    const log = createAttemptLog(backend, codecs, () => 0);
    const ending = new AbortController();
    const turnsOfSlices: number[] = [];
    let turn = 0;
    let behind = 3;
    const follower = {
      begin: () => undefined,
      take: ({ position }: { readonly position: readonly number[] }) => {
        turnsOfSlices.push(turn);
        if (position[0] === RECORDS && --behind === 0) ending.abort();
        return Promise.resolve();
      },
    };
    const streams = [1, 2, 3].map(() => log.follow([0], follower, ending.signal));
    for (; !ending.signal.aborted; turn += 1) await nextTurn();
    await Promise.all(streams);
    expect(turnsOfSlices.length).toBeGreaterThanOrEqual((3 * RECORDS) / 250);
    expect(new Set(turnsOfSlices).size).toBe(turnsOfSlices.length);
  });

  it('is followed from its start when that is after the position of the client, which has left the log', async () => {
    const memory = createMemoryBackend({ topics: { [TOPIC]: 2 }, now: () => 0 });
    for (const partition of [0, 1])
      for (let n = 0; n < 40; n += 1)
        memory.append({ topic: TOPIC, partition }, { key: null, value: Buffer.from('no attempt') });
    const backend = Object.create(memory, { startOffset: { value: () => Promise.resolve(30) } }) as StreamsBackend;
    const log = createAttemptLog(backend, createAvroCodecs({ registry: createMemoryRegistry() }), () => 0);
    const ending = new AbortController();
    const positions: (readonly number[])[] = [];
    const begin = (position: readonly number[]) => {
      positions.push(position);
      ending.abort();
    };
    await log.follow([5, 35], { begin, take: () => Promise.resolve() }, ending.signal);
    expect(positions).toEqual([[30, 35]]);
  });

  it('is never decoded by more than a slice at a time', async () => {
    const memory = createMemoryBackend({ topics: { [TOPIC]: 1 }, now: () => 0 });
    for (let n = 0; n < RECORDS; n += 1)
      memory.append({ topic: TOPIC, partition: 0 }, { key: null, value: Buffer.from('no attempt') });
    const codecs = createAvroCodecs({ registry: createMemoryRegistry() });
    const backend = Object.create(memory, { fetcher: { value: slicedOnly(memory) } }) as StreamsBackend;
    const log = createAttemptLog(backend, codecs, () => 0);
    const ending = new AbortController();
    const ends: (number | undefined)[] = [];
    const take = ({ position }: { readonly position: readonly number[] }) => {
      ends.push(position[0]);
      if (position[0] === RECORDS) ending.abort();
      return Promise.resolve();
    };
    await log.follow([0], { begin: () => undefined, take }, ending.signal);
    expect(ends).toEqual([250, 500, 750, 1_000, 1_250, 1_500, 1_750, 2_000]);
  });
});
