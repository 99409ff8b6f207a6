import { describe, expect, it } from '@jest/globals';
import { Registry } from 'prom-client';
import type { StallWatch } from '@waypost/streams/admin';
import { createMemoryBackend } from '@waypost/streams/testing';
import { Readiness } from '../runtime/readiness.js';
import { KafkaConnection } from './kafka.module.js';

describe('the metric of stalls (R-40)', () => {
  it('shows for how long the oldest read, table, transaction or processor has not gone on', async () => {
    const stall = { kind: 'read', name: 'pings-0', cause: 'A transaction is open.', since: 10_000 } as const;
    const stalls = { all: () => [stall, { ...stall, name: 'pings-1', since: 30_000 }] };
    const backend = Object.assign(createMemoryBackend({ topics: {}, now: Date.now }), { stalls: stalls as StallWatch });
    const [readiness, registry] = [new Readiness(), new Registry()];
    new KafkaConnection(backend, () => 72_500, readiness, registry);

    expect(readiness.stalls()).toHaveLength(2);
    const shown = (await registry.metrics()).split('\n').filter((line) => line.startsWith('waypost_'));
    expect(shown).toEqual([
      'waypost_stalled_seconds{kind="read"} 62.5',
      'waypost_stalled_seconds{kind="table"} 0',
      'waypost_stalled_seconds{kind="transaction"} 0',
      'waypost_stalled_seconds{kind="processor"} 0',
    ]);
  });
});
