import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from '@jest/globals';
import { silentLogger } from '../../logger.js';
import { encodeRecordBatch } from '../../protocol/testing/record-batches.js';
import type { Fetcher, StreamsBackend } from '../backend.js';
import { createKafkaBackend } from './kafka-backend.js';
import { KAFKA_ERRORS, kafkaError, kafkaErrorCode, type Reaction } from './kafka-errors.js';
import { type FakeCluster, type FakeRequest, startFakeCluster } from './testing/fake-broker.js';

const TOPIC = 'topic';
/** Codes of Kafka that no request of ours is documented to get: a broker may answer them all the same. */
const UNEXPECTED = [57, 60, 104, 133];
const CODES = [...KAFKA_ERRORS.map(({ code }) => code), ...UNEXPECTED];
const UNDONE: readonly Reaction[] = ['refresh', 'coordinator', 'wait'];
const REPEATABLE: readonly Reaction[] = [...UNDONE, 'unsure'];

const batch = encodeRecordBatch([{ key: null, value: Buffer.from('a record') }], 0, {
  producerId: 1,
  producerEpoch: 0,
  baseSequence: 0,
  isTransactional: false,
});

let cluster: FakeCluster;
let backend: StreamsBackend;
let asked: FakeRequest[] = [];
let fetcher: Fetcher | null = null;

afterEach(async () => {
  await fetcher?.close();
  fetcher = null;
  await backend.close();
  await cluster.close();
});

interface Answers {
  readonly nodes?: number;
  readonly leader?: () => number;
}

/** @param answer the code for the n-th request (from 0) of an API and key */
async function start(answer: (request: FakeRequest, n: number) => number, options: Answers = {}): Promise<void> {
  asked = [];
  const counts = new Map<string, number>();
  cluster = await startFakeCluster({
    ...options,
    partitions: () => 256,
    batch,
    answer: (request) => {
      asked.push(request);
      const name = `${request.api} ${request.key}`;
      const n = counts.get(name) ?? 0;
      counts.set(name, n + 1);
      return answer(request, n);
    },
  });
  const kafka = { brokers: cluster.brokers, clientId: 'errors' };
  backend = createKafkaBackend({ kafka, logger: silentLogger, now: Date.now });
}

/** The code that a key ends with. */
function codeIn({ key }: FakeRequest): number {
  return Number(key.split('~')[1]);
}

async function outcome(work: () => Promise<unknown>): Promise<string> {
  try {
    await work();
    return 'done';
  } catch (error) {
    const { code } = error as { code: unknown };
    return typeof code === 'string' ? code : `Kafka's ${String(kafkaErrorCode(error))}`;
  }
}

async function outcomes(codes: readonly number[], work: (code: number) => Promise<unknown>) {
  const all = await Promise.all(codes.map(async (code) => [code, await outcome(() => work(code))] as const));
  return Object.fromEntries(all);
}

/** What is expected for each code, by its reaction. */
function byReaction(repeated: readonly Reaction[], otherwise: (code: number, reaction: Reaction) => string) {
  const expected = (code: number): string => {
    const { reaction } = kafkaError(code);
    return repeated.includes(reaction) ? 'done' : otherwise(code, reaction);
  };
  return Object.fromEntries(CODES.map((code) => [code, expected(code)]));
}

function producerOutcome(code: number, reaction: Reaction): string {
  const { error = 'PRODUCER_FAILED' } = kafkaError(code);
  return ['park', 'fenced'].includes(reaction) ? error : 'PRODUCER_FAILED';
}

describe('a broker that answers an error code', () => {
  it('to Fetch is asked again where that may help, and else the reader of that partition fails', async () => {
    const partitionOf = (code: number) => CODES.indexOf(code);
    const codeOf = ({ key }: FakeRequest) => CODES[Number(key.split('-')[1])] ?? 0;
    await start((request, n) => {
      if (request.api !== 'Fetch') return 0;
      const code = codeOf(request);
      return n < 2 || !REPEATABLE.includes(kafkaError(code).reaction) ? code : 0;
    });
    fetcher = backend.fetcher();
    const reader = fetcher;
    const open = (code: number) => reader.open({ topic: TOPIC, partition: partitionOf(code) }, 0);
    expect(await outcomes(CODES, (code) => open(code).next())).toEqual(
      byReaction(REPEATABLE, (code) => kafkaError(code).error ?? 'PROTOCOL'),
    );
  });

  it.each(['InitProducerId', 'AddPartitionsToTxn', 'AddOffsetsToTxn', 'TxnOffsetCommit', 'EndTxn'])(
    'to %s is asked again only when nothing was done',
    async (api) => {
      await start((request, n) => (request.api === api && n === 0 ? codeIn(request) : 0));
      const commit = async (code: number): Promise<void> => {
        const producer = backend.producer(`tx~${String(code)}`);
        const record = { topic: TOPIC, partition: 0, key: null, value: null };
        const offset = { groupId: 'group', topic: TOPIC, partition: 0, offset: 1 };
        try {
          await producer.init();
          await producer.commit({ records: [record], offsets: [offset] });
        } finally {
          await producer.close();
        }
      };
      expect(await outcomes(CODES, commit)).toEqual(byReaction(UNDONE, producerOutcome));
    },
  );

  it('for one partition of a transaction fails it at once, and names it, although the others were not attempted', async () => {
    const [TOPIC_AUTHORIZATION_FAILED, OPERATION_NOT_ATTEMPTED] = [29, 55];
    await start(({ partition }) => {
      if (partition === undefined) return 0;
      return partition === 'denied-0' ? TOPIC_AUTHORIZATION_FAILED : OPERATION_NOT_ATTEMPTED;
    });
    const producer = backend.producer('tx');
    await producer.init();
    const records = [TOPIC, 'denied', 'other'].map((topic) => ({ topic, partition: 0, key: null, value: null }));
    const message = expect.stringContaining(
      'Adding denied-0 to a transaction was refused with TOPIC_AUTHORIZATION_FAILED',
    );
    await expect(producer.commit({ records })).rejects.toMatchObject({ code: 'ACCESS_DENIED', message });
    expect(asked.filter(({ partition }) => partition === 'denied-0')).toHaveLength(1);
    await producer.close();
  });

  it('to Produce is asked again only when nothing was done, or when that cannot do it twice', async () => {
    await start(({ api, key }, n) => (api === 'Produce' && n === 0 ? (CODES[Number(key.split('-')[1])] ?? 0) : 0));
    const record = (code: number) => ({ topic: TOPIC, partition: CODES.indexOf(code), key: null, value: null });
    const transactional = async (code: number): Promise<void> => {
      const producer = backend.producer(`tx-${String(code)}`);
      await producer.init();
      try {
        await producer.commit({ records: [record(code)] });
      } finally {
        await producer.close();
      }
    };
    expect(await outcomes(CODES, transactional)).toEqual(byReaction(UNDONE, producerOutcome));
    await backend.close();
    await cluster.close();
    await start(({ api, key }, n) => (api === 'Produce' && n === 0 ? (CODES[Number(key.split('-')[1])] ?? 0) : 0));
    const fenced = async (code: number): Promise<void> => {
      const writer = backend.fencedWriter(`w-${String(code)}`, [{ topic: TOPIC, partition: CODES.indexOf(code) }]);
      await writer.init();
      await writer.append([record(code)]);
    };
    expect(await outcomes(CODES, fenced)).toEqual(byReaction(REPEATABLE, producerOutcome));
  });

  it('to ListOffsets is asked again where that may help', async () => {
    await start(({ api, key }, n) => (api === 'ListOffsets' && n === 0 ? (CODES[Number(key.split('-')[1])] ?? 0) : 0));
    const list = (code: number) => backend.endOffset({ topic: TOPIC, partition: CODES.indexOf(code) });
    expect(await outcomes(CODES, list)).toEqual(byReaction(REPEATABLE, parkedOrPlain));
  });

  it.each(['FindCoordinator', 'OffsetFetch', 'OffsetCommit'])(
    'to %s is asked again where that may help',
    async (api) => {
      await start((request, n) => (request.api === api && n === 0 ? codeIn(request) : 0));
      const partition = { topic: TOPIC, partition: 0 };
      const use = async (code: number): Promise<void> => {
        const member = backend.group({ groupId: `group~${String(code)}`, topics: [TOPIC] });
        try {
          await member.committed(partition);
          const isCommitted = await member.commit(partition, { offset: 1, metadata: '' }, 1);
          if (!isCommitted) throw Object.assign(new Error('The generation is over.'), { code });
        } finally {
          await member.leave();
        }
      };
      expect(await outcomes(CODES, use)).toEqual(byReaction(REPEATABLE, parkedOrPlain));
    },
  );

  it.each(['JoinGroup', 'SyncGroup'])('to %s ends the membership, with the fix, or is asked again', async (api) => {
    await start((request, n) => (request.api === api && n === 0 ? codeIn(request) : 0));
    const join = async (code: number): Promise<void> => {
      const member = backend.group({ groupId: `group~${String(code)}`, topics: [TOPIC], sessionTimeoutMs: 2_000 });
      try {
        await member.join({ assigned: () => undefined, failed: () => undefined });
      } finally {
        await member.leave();
      }
    };
    const ends = (code: number, reaction: Reaction): string =>
      reaction === 'fatal' ? (kafkaError(code).error ?? '') : reaction === 'park' ? 'GROUP_REFUSED' : 'done';
    expect(await outcomes(CODES, join)).toEqual(byReaction(REPEATABLE, ends));
  });

  it('to Heartbeat lets the member join again, or just go on', async () => {
    await start((request, n) => (request.api === 'Heartbeat' && n === 0 ? codeIn(request) : 0));
    const live = async (code: number): Promise<void> => {
      // Long enough that a busy machine loses no session, which would be a reason to join again.
      const sessionTimeoutMs = 10_000;
      const member = backend.group({ groupId: `group~${String(code)}`, topics: [TOPIC], sessionTimeoutMs });
      const failures: Error[] = [];
      await member.join({ assigned: () => undefined, failed: (error) => failures.push(error) });
      const heartbeats = () => asked.filter(({ api, key }) => api === 'Heartbeat' && key === `group~${String(code)}`);
      while (heartbeats().length < 3) await new Promise((resolve) => setTimeout(resolve, 20));
      const joins = asked.filter(({ api, key }) => api === 'JoinGroup' && key === `group~${String(code)}`).length;
      await member.leave();
      const again = REPEATABLE.includes(kafkaError(code).reaction) ? 1 : 2;
      expect({ code, joins, failures }).toEqual({ code, joins: again, failures: [] });
    };
    expect(await outcomes(CODES, live)).toEqual(byReaction(REPEATABLE, () => 'done'));
  });

  it('that its disk failed is left for the leader that follows', async () => {
    let metadataAsked = 0;
    const disk = { nodes: 2, leader: () => (metadataAsked > 2 ? 2 : 1) };
    await start(({ api, node }) => {
      if (api === 'Metadata') metadataAsked++;
      return api === 'Fetch' && node === 1 ? 56 : 0;
    }, disk);
    fetcher = backend.fetcher();
    const { records } = await fetcher.open({ topic: TOPIC, partition: 0 }, 0).next();
    expect(String(records[0]?.value)).toBe('a record');
  }, 10_000);

  it('of one partition does not delay the others of its leader', async () => {
    await start(({ api, key }) => (api === 'Fetch' && key === 'topic-0' ? 6 : 0));
    fetcher = backend.fetcher();
    fetcher
      .open({ topic: TOPIC, partition: 0 }, 0)
      .next()
      .catch(() => undefined);
    for (let partition = 1; partition < 20; partition++) await fetcher.open({ topic: TOPIC, partition }, 0).next();
    expect(asked.filter(({ api, key }) => api === 'Fetch' && key === 'topic-0').length).toBeLessThan(10);
  });
});

function parkedOrPlain(code: number, reaction: Reaction): string {
  return reaction === 'park' ? (kafkaError(code).error ?? '') : `Kafka's ${String(code)}`;
}

describe('the table of error codes in the README', () => {
  it('matches the table in the code', () => {
    cluster = { brokers: [], openConnections: () => 0, hangUp: () => undefined, close: () => Promise.resolve() };
    const readme = readFileSync(join(import.meta.dirname, '../../../README.md'), 'utf8');
    const rows = [...readme.matchAll(/^\| (-?\d+) +\| `([A-Z_]+)` +\| ([a-z]+) +\| (.*?) +\|$/gmu)];
    expect(rows.map(([, code, name, reaction, error]) => [Number(code), name, reaction, error])).toEqual(
      KAFKA_ERRORS.map(({ code, name, reaction, error }) => [code, name, reaction, error ? `\`${error}\`` : '']),
    );
  });
});
