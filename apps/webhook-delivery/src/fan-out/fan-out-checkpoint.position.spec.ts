import { describe, expect, it } from '@jest/globals';
import { type AvroCodecs, topics } from '@waypost/contracts';
import { createMemoryBackend } from '@waypost/streams/testing';
import { findLostPosition } from './fan-out-checkpoint.js';

const EVENTS = topics.fleetEvents.name;

describe('the committed position of a fan-out (R-25)', () => {
  it.each([
    ['at the start of its log', 0, null],
    ['at its end, where everything is fanned out', 3, null],
    ['beyond its end', 4, expect.stringContaining('is 4, but the log goes from 0 to 3')],
  ])('%s is taken for what it is', async (_where, committed, lost) => {
    const backend = createMemoryBackend({ topics: { [EVENTS]: 1 }, now: () => 0 });
    const log = { topic: EVENTS, partition: 0 };
    for (const value of ['a', 'b', 'c']) backend.append(log, { key: null, value: Buffer.from(value) });
    const parts = { backend, codecs: {} as AvroCodecs, nowMs: () => 0 };
    expect(await findLostPosition(parts, { ...log, committed, outputs: 1 })).toEqual(lost);
  });
});
