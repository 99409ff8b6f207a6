import { afterEach, describe, expect, it } from '@jest/globals';
import { silentLogger } from '../../logger.js';
import type { StreamsBackend, TransactionalProducer } from '../backend.js';
import { createKafkaBackend } from './kafka-backend.js';
import { type FakeCluster, type FakeRequest, startFakeCluster } from './testing/fake-broker.js';

const TOPIC = 'topic';
const NOT_LEADER_OR_FOLLOWER = 6;
const MESSAGE_TOO_LARGE = 10;
const NOT_ENOUGH_REPLICAS = 19;
const REQUEST_TIMED_OUT = 7;
const CONCURRENT_TRANSACTIONS = 51;
const INVALID_TXN_STATE = 48;
const KAFKA_STORAGE_ERROR = 56;

let cluster: FakeCluster;
let backend: StreamsBackend;
let producer: TransactionalProducer;
/** What the brokers were asked since the producer was initialized. */
let asked: string[];

afterEach(async () => {
  await producer.close();
  await backend.close();
  await cluster.close();
});

/** Half a second passes at each look at the clock. */
async function start(answer: (request: FakeRequest) => number): Promise<void> {
  asked = [];
  cluster = await startFakeCluster({
    partitions: () => 2,
    batch: Buffer.alloc(0),
    answer: (request) => {
      asked.push(request.api);
      return answer(request);
    },
  });
  let nowMs = 0;
  const kafka = { brokers: cluster.brokers, clientId: 'producer' };
  const monotonicNow = (): number => (nowMs += 500);
  backend = createKafkaBackend({ kafka, logger: silentLogger, now: Date.now, monotonicNow });
  producer = backend.producer('app.1');
  await producer.init();
  asked = [];
}

function commit(...partitions: number[]): Promise<unknown> {
  const records = partitions.map((partition) => ({ topic: TOPIC, partition, key: null, value: null }));
  const offsets = partitions.map((partition) => ({ topic: TOPIC, partition, groupId: 'app', offset: 1 }));
  return producer.commit({ records, offsets });
}

describe('a transaction', () => {
  it('of which a leader takes nothing for long is aborted, and the producer is of use for other partitions', async () => {
    await start(({ api, key }) => (api === 'Produce' && key === `${TOPIC}-0` ? NOT_ENOUGH_REPLICAS : 0));
    await expect(commit(0)).rejects.toMatchObject({
      code: 'BROKER_UNAVAILABLE',
      message: expect.stringMatching('topic-0'),
    });
    expect(asked.at(-1)).toBe('EndTxn');
    await expect(commit(1)).resolves.toBeInstanceOf(Map);
  });

  it('that cannot begin for long, because of the one before it, has left nothing to abort', async () => {
    let isHeldUp = true;
    const beginning = ['AddPartitionsToTxn', 'AddOffsetsToTxn'];
    await start(({ api }) => (isHeldUp && beginning.includes(api) ? CONCURRENT_TRANSACTIONS : 0));
    await expect(commit(0)).rejects.toMatchObject({ code: 'BROKER_UNAVAILABLE' });
    expect(new Set(asked)).toEqual(new Set(beginning));
    isHeldUp = false;
    await expect(commit(0)).resolves.toBeInstanceOf(Map);
  });

  it('whose outcome is unknown is no refusal, even if a part of it was refused: it must not be aborted', async () => {
    await start(({ api }) => ({ Produce: MESSAGE_TOO_LARGE, TxnOffsetCommit: REQUEST_TIMED_OUT })[api] ?? 0);
    await expect(commit(0)).rejects.toMatchObject({ code: 'PRODUCER_FAILED' });
    expect(asked).not.toContain('EndTxn');
    await expect(commit(1)).rejects.toMatchObject({ code: 'PRODUCER_FAILED' });
  });

  it.each([NOT_LEADER_OR_FOLLOWER, KAFKA_STORAGE_ERROR])(
    'that is aborted while a former leader may have appended a batch is not followed by another batch of that number: the answer %i',
    async (formerLeader) => {
      const codes: Record<string, number> = { [`${TOPIC}-0`]: MESSAGE_TOO_LARGE, [`${TOPIC}-1`]: formerLeader };
      await start(({ api, key }) => (api === 'Produce' ? (codes[key] ?? 0) : 0));
      await expect(commit(0, 1)).rejects.toMatchObject({ code: 'RECORD_TOO_LARGE' });
      expect(asked.at(-1)).toBe('EndTxn');
      codes[`${TOPIC}-1`] = 0;
      asked = [];
      await expect(commit(1)).rejects.toMatchObject({
        code: 'PRODUCER_FAILED',
        message: expect.stringMatching('topic-1'),
      });
      expect(asked).not.toContain('Produce');
    },
  );

  it('whose batch the next leader takes after a former one did not is followed by others', async () => {
    let isFormer = true;
    await start(({ api }) => (api === 'Produce' && isFormer ? ((isFormer = false), NOT_LEADER_OR_FOLLOWER) : 0));
    await expect(commit(0)).resolves.toBeInstanceOf(Map);
    await expect(commit(0)).resolves.toBeInstanceOf(Map);
  });

  it('that was refused and cannot be aborted ends the producer', async () => {
    await start(({ api }) => ({ Produce: MESSAGE_TOO_LARGE, EndTxn: REQUEST_TIMED_OUT })[api] ?? 0);
    const message = expect.stringContaining('could not be aborted');
    await expect(commit(0)).rejects.toMatchObject({ code: 'PRODUCER_FAILED', message });
  });

  it('that was refused before anything was added to it needs no end', async () => {
    await start(({ api }) => ({ Produce: MESSAGE_TOO_LARGE, EndTxn: INVALID_TXN_STATE })[api] ?? 0);
    await expect(commit(0)).rejects.toMatchObject({ code: 'RECORD_TOO_LARGE' });
    await expect(commit(0)).rejects.toMatchObject({ code: 'RECORD_TOO_LARGE' });
  });
});
