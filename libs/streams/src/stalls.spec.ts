import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { KafkaClient } from './backend/kafka/kafka-client.js';
import { KafkaProducer } from './backend/kafka/kafka-producer.js';
import { silentLogger } from './logger.js';
import { createGlobalTable } from './runtime/global-table.js';
import { StallWatch } from './stalls.js';
import { createMemoryBackend } from './testing/memory-backend.js';

const CAUSE = 'an open transaction';

let clock: number;
let logged: [string, object | undefined][];
let watch: StallWatch;

const log = (event: string, fields?: object): void => void logged.push([event, fields]);
const logger = { ...silentLogger, warn: log, info: log };

beforeEach(() => {
  jest.useFakeTimers();
  clock = 1_000;
  logged = [];
  watch = new StallWatch({ logger, now: () => clock });
});
afterEach(() => {
  jest.useRealTimers();
});

async function pass(ms: number): Promise<void> {
  clock += ms;
  await jest.advanceTimersByTimeAsync(ms);
}

describe('the watch over stalls', () => {
  it('says once that something does not go on, since when and why, and once that it goes on', async () => {
    const end = watch.begin('read', 'pings-3', CAUSE);
    await pass(60_000);
    expect(watch.all()).toEqual([{ kind: 'read', name: 'pings-3', cause: CAUSE, since: 1_000 }]);
    end();
    end();
    expect(watch.all()).toEqual([]);
    expect(logged).toEqual([
      ['stalled', { kind: 'read', name: 'pings-3', cause: CAUSE, since: 1_000 }],
      ['stall_ended', { kind: 'read', name: 'pings-3', durationMs: 60_000 }],
    ]);
  });

  it('says nothing of a short wait', async () => {
    const end = watch.begin('read', 'pings-3', CAUSE);
    await pass(4_000);
    end();
    await pass(60_000);
    expect([watch.all(), logged]).toEqual([[], []]);
  });

  it('takes waits of the same name for one, which ends with the last of them', async () => {
    const ends = [watch.begin('read', 'pings', CAUSE), watch.begin('read', 'pings', CAUSE)];
    await pass(10_000);
    ends[0]?.();
    expect(watch.all()).toHaveLength(1);
    ends[1]?.();
    expect(logged.map(([event]) => event)).toEqual(['stalled', 'stall_ended']);
  });
});

describe('a global table that tasks wait for', () => {
  it('is stalled while its position does not move, however many wait', async () => {
    const broker = createMemoryBackend({ topics: { table: 1 }, now: () => clock, logger });
    let isHeld = true;
    const held = {
      fetcher: () => {
        const fetcher = broker.fetcher();
        const open: typeof fetcher.open = (partition, position) => {
          const feed = fetcher.open(partition, position);
          const next = async () => {
            while (isHeld) await new Promise((resolve) => setTimeout(resolve, 100));
            return feed.next();
          };
          return { next, close: () => feed.close() };
        };
        return { open, close: () => fetcher.close() };
      },
    };
    const table = createGlobalTable({
      backend: Object.assign(Object.create(broker) as typeof broker, held),
      topic: 'table',
      logger,
      onRecord: () => undefined,
      onFatal: (error) => {
        throw error;
      },
    });
    await table.start();
    broker.append({ topic: 'table', partition: 0 }, { key: Buffer.from('k'), value: Buffer.from('v') });
    const waiting = [table.caughtUp(), table.caughtUp()];
    await pass(0);
    await pass(6_000);
    expect(broker.stalls.all()).toMatchObject([{ kind: 'table', name: 'table', since: 1_000 }]);
    isHeld = false;
    await pass(200);
    await Promise.all(waiting);
    expect(broker.stalls.all()).toEqual([]);
    await table.stop();
  });
});

describe('a transaction that the brokers do not complete', () => {
  it('is stalled until its producer gives up', async () => {
    let giveUp: (error: Error) => void = () => undefined;
    const client = {
      atCoordinator: () => new Promise((_, reject) => (giveUp = reject)),
      close: () => Promise.resolve(),
    } as Partial<KafkaClient> as KafkaClient;
    const producer = new KafkaProducer({
      transactionalId: 'app.3',
      client,
      logger,
      stalls: watch,
      now: () => clock,
      monotonicNow: () => clock,
      transactionTimeoutMs: 15_000,
    });
    const started = producer.init();
    await pass(6_000);
    expect(watch.all()).toMatchObject([{ kind: 'transaction', name: 'app.3', since: 1_000 }]);
    giveUp(new Error('gone'));
    await expect(started).rejects.toMatchObject({ code: 'PRODUCER_FAILED' });
    expect(watch.all()).toEqual([]);
  });
});
