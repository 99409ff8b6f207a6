import { beforeEach, describe, expect, it } from '@jest/globals';
import { flushed, until } from '../../../../../test/support/until.js';
import { silentLogger } from '../../logger.js';
import type { StallWatch } from '../../stalls.js';
import type { Fetcher } from '../backend.js';
import type { KafkaClient } from './kafka-client.js';
import { KafkaFetcher } from './kafka-fetcher.js';
import type { KafkajsBroker } from './kafkajs/kafkajs-patches.js';

const PARTITION = { topic: 'input', partition: 0 };
const leader = { nodeId: 1 } as KafkajsBroker;

let waits: Set<string>;
let metadataReads: number;
let fail: (error: Error) => void;
let fetcher: Fetcher;

/** Requests fail when the test says so. */
function open(connected: KafkajsBroker | null): void {
  const pending = new Promise<never>((_, reject) => (fail = reject));
  const client: Partial<KafkaClient> = {
    connectedLeader: () => connected,
    leader: () => pending,
    callRaw: () => pending,
    refreshMetadata: () => Promise.resolve(void metadataReads++),
    close: () => Promise.resolve(),
  };
  const stalls: Partial<StallWatch> = {
    begin: (_kind, name) => {
      waits.add(name);
      return () => waits.delete(name);
    },
  };
  fetcher = new KafkaFetcher({
    client: client as KafkaClient,
    logger: silentLogger,
    stalls: stalls as StallWatch,
  });
}

beforeEach(() => {
  waits = new Set();
  metadataReads = 0;
});

describe('a reader that is closed', () => {
  it.each([
    ['its leader is looked for', null],
    ['its leader is asked', leader],
  ])('waits for nothing more, although it was closed while %s', async (_while, connected) => {
    open(connected);
    const feed = fetcher.open(PARTITION, 0);
    void feed.next();
    await flushed();
    feed.close();
    fail(new Error('connect ECONNREFUSED'));
    await until(() => metadataReads > 0);
    expect([...waits]).toEqual([]);
    await fetcher.close();
  });

  it('with all others of its fetcher waits for nothing more', async () => {
    open(null);
    void fetcher.open(PARTITION, 0).next();
    fail(new Error('connect ECONNREFUSED'));
    await until(() => waits.has(PARTITION.topic));
    await fetcher.close();
    expect([...waits]).toEqual([]);
  });
});
