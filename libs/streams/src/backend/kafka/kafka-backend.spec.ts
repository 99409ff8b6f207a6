import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { silentLogger } from '../../logger.js';
import type { StreamsBackend } from '../backend.js';
import { createKafkaBackend, knownPartitionCount } from './kafka-backend.js';
import { retryTransient } from './kafka-client.js';
import { FENCED_LEADER_EPOCH } from './kafka-errors.js';
import { FAKE_TOPIC_ID, type FakeCluster, type FakeRequest, startFakeCluster } from './testing/fake-broker.js';

const UNKNOWN_LEADER_EPOCH = 75;
const PRODUCER_FENCED = 90;

describe('the number of partitions of a topic', () => {
  it('is requested again when a broker denies the topic at first, as it does right after its start', async () => {
    const answers = [null, null, 4];
    const count = await knownPartitionCount(
      () => Promise.resolve(answers.shift() ?? null),
      () => 0,
    );
    expect(count).toBe(4);
    expect(answers).toEqual([]);
  });

  it('is null when the topic has been denied for three seconds', async () => {
    let nowMs = 0;
    const count = await knownPartitionCount(
      () => {
        nowMs += 1_500;
        return Promise.resolve(null);
      },
      () => nowMs,
    );
    expect(count).toBeNull();
    expect(nowMs).toBe(3_000);
  });

  it('is reported at once when it is known', async () => {
    expect(
      await knownPartitionCount(
        () => Promise.resolve(1),
        () => 0,
      ),
    ).toBe(1);
  });
});

describe('a lookup that reaches no broker', () => {
  it('fails with BROKER_UNAVAILABLE once its time is over, as the start of an application does', async () => {
    let nowMs = 0;
    const backend = createKafkaBackend({
      kafka: { brokers: ['127.0.0.1:1'], clientId: 'cut-off' },
      logger: silentLogger,
      now: Date.now,
      monotonicNow: () => (nowMs += 15_000),
    });
    await expect(backend.partitionCount('topic')).rejects.toMatchObject({
      code: 'BROKER_UNAVAILABLE',
      message: expect.stringMatching(/^Partition count of topic: no broker responds \(.*ECONNREFUSED/),
      cause: expect.objectContaining({ name: expect.stringContaining('KafkaJS') }),
    });
    await backend.close();
  });

  it('fails with what the broker said where one responds, though kafkajs gives up in the same way', async () => {
    const answer = Object.assign(new Error('There is no leader'), { type: 'LEADER_NOT_AVAILABLE', code: 5 });
    const work = () =>
      Promise.reject(
        Object.assign(new Error(answer.message), { name: 'KafkaJSNumberOfRetriesExceeded', cause: answer }),
      );
    const over = { forMs: 0, monotonicNow: () => 1, what: 'A lookup', logger: silentLogger };
    await expect(retryTransient(work, over)).rejects.toMatchObject({ name: 'KafkaJSNumberOfRetriesExceeded' });
  });
});

describe('the id of a topic', () => {
  it('is known while no partition of it has a leader, since any broker has it', async () => {
    const cluster = await startFakeCluster({ answer: () => 0, leader: () => -1, batch: Buffer.alloc(0) });
    let nowMs = 0;
    const backend = createKafkaBackend({
      kafka: { brokers: cluster.brokers, clientId: 'topic-id' },
      logger: silentLogger,
      now: Date.now,
      monotonicNow: () => (nowMs += 5_000),
    });
    expect(await backend.topicId('topic')).toBe(FAKE_TOPIC_ID.toString('hex'));
    await backend.close();
    await cluster.close();
  });
});

describe('the end of a leader epoch', () => {
  const PARTITION = { topic: 'input', partition: 0 };
  let asked: number[];
  let leader: number;
  /** The nodes know of the epochs up to these. */
  let epochs: Readonly<Record<number, number>>;
  let cluster: FakeCluster;
  let backend: StreamsBackend;

  beforeEach(async () => {
    asked = [];
    leader = 1;
    epochs = { 1: 4, 2: 5 };
    cluster = await startFakeCluster({ answer, nodes: 2, leader: () => leader, batch: Buffer.alloc(0) });
    let nowMs = 0;
    backend = createKafkaBackend({
      kafka: { brokers: cluster.brokers, clientId: 'epochs' },
      logger: silentLogger,
      now: Date.now,
      monotonicNow: () => (nowMs += 1_000),
    });
  });

  afterEach(async () => {
    await backend.close();
    await cluster.close();
  });

  function answer({ api, node, present = -1 }: FakeRequest): number {
    if (api === 'OffsetForLeaderEpoch') asked.push(node);
    const epoch = epochs[node] ?? 0;
    if (present < 0 || present === epoch) return 0;
    if (present < epoch) return FENCED_LEADER_EPOCH;
    leader = 2;
    return UNKNOWN_LEADER_EPOCH;
  }

  it('is asked of the new leader at once after a change of leaders', async () => {
    await backend.endOffset(PARTITION);
    leader = 2;
    expect(await backend.epochEnd(PARTITION, 4, 5)).toBe(2);
    expect(asked).not.toContain(1);
  });

  it('is asked without reading the metadata again when a task starts', async () => {
    await backend.endOffset(PARTITION);
    leader = 2;
    expect(await backend.epochEnd(PARTITION, 4)).toBe(1);
  });

  it('is not asked of a former leader that the metadata still names', async () => {
    expect(await backend.epochEnd(PARTITION, 4, 5)).toBe(2);
  });

  it('is known by a leader that came after the one of what was read', async () => {
    [leader, epochs] = [2, { 2: 6 }];
    expect(await backend.epochEnd(PARTITION, 4, 5)).toBe(2);
  });
});

describe('a transaction', () => {
  it('is reported with its duration once it is committed, and not when the broker refuses it', async () => {
    let code = 0;
    const refusing = ({ api }: { readonly api: string }): number => (api === 'EndTxn' ? code : 0);
    const cluster = await startFakeCluster({ answer: refusing, batch: Buffer.alloc(0) });
    const committed: [string, number][] = [];
    let nowMs = 0;
    const backend = createKafkaBackend({
      kafka: { brokers: cluster.brokers, clientId: 'measured' },
      logger: silentLogger,
      now: Date.now,
      monotonicNow: () => nowMs++,
      onCommit: (...measured) => committed.push(measured),
    });
    const record = { topic: 'out', partition: 0, key: null, value: Buffer.from('a') };
    const producer = backend.producer('counting.0');
    await producer.init();
    await producer.commit({ records: [record] });
    code = PRODUCER_FENCED;
    await expect(producer.commit({ records: [record] })).rejects.toThrow();
    expect(committed).toEqual([['counting.0', expect.any(Number)]]);
    expect(committed[0]?.[1]).toBeGreaterThan(0);
    await producer.close();
    await backend.close();
    await cluster.close();
  });
});
