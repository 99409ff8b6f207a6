import { randomUUID } from 'node:crypto';
import { Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { type Admin, Kafka, logLevel } from 'kafkajs';
import { makeTopics } from '../../../../../test/support/make-topics.js';
import { requireTestStack } from '../../../../../test/support/test-stack.js';
import { silentLogger } from '../../logger.js';
import { ByteReader } from '../../protocol/bytes.js';
import { createGlobalTable } from '../../runtime/global-table.js';
import type { StreamsBackend } from '../backend.js';
import { createKafkaBackend } from './kafka-backend.js';

const LIST_OFFSETS = 2;
const METADATA = 3;
/** Produce, AddPartitionsToTxn, AddOffsetsToTxn, EndTxn, TxnOffsetCommit. */
const COMMIT = [0, 24, 25, 26, 28];
/** The length of an array that asks for all topics. */
const ALL_TOPICS = -1;

const { brokers } = requireTestStack();
const clientId = `requests-${randomUUID()}`;

interface Request {
  readonly apiKey: number;
  readonly body: ByteReader;
}

let admin: Admin;
let topics: string[];
let backend: StreamsBackend;
let requests: Request[];

beforeAll(async () => {
  admin = new Kafka({ brokers, clientId: 'requests-admin', logLevel: logLevel.NOTHING }).admin();
  await admin.connect();
});
afterAll(() => admin.disconnect());

beforeEach(async () => {
  topics = [`requests-${randomUUID()}`, `requests-${randomUUID()}`];
  await makeTopics(
    admin,
    topics.map((topic) => ({
      topic,
      numPartitions: 1,
      replicationFactor: 1,
      configEntries: [{ name: 'cleanup.policy', value: 'compact' }],
    })),
  );
  requests = [];
  const write = Reflect.get(Socket.prototype, 'write') as (...args: unknown[]) => boolean;
  jest.spyOn(Socket.prototype, 'write').mockImplementation(function (this: Socket, ...args: unknown[]) {
    if (Buffer.isBuffer(args[0])) note(args[0]);
    return write.apply(this, args);
  });
  backend = createKafkaBackend({ kafka: { brokers, clientId }, logger: silentLogger, now: Date.now });
});

afterEach(async () => {
  await backend.close();
  jest.restoreAllMocks();
});

/** What the backend under test sends; other clients of this process have other names. */
function note(sent: Buffer): void {
  if (!sent.includes(clientId)) return;
  const reader = new ByteReader(sent);
  reader.position = 4;
  const apiKey = reader.int16();
  reader.position = 12;
  reader.string();
  requests.push({ apiKey, body: reader });
}

function count(apiKey: number): number {
  return requests.filter((request) => request.apiKey === apiKey).length;
}

describe('the requests to a real broker', () => {
  it('ask for the metadata of the topics that a producer writes, and never for those of the whole cluster', async () => {
    const producer = backend.producer(`requests-${randomUUID()}`);
    await producer.init();
    await producer.commit({
      records: topics.map((topic) => ({ topic, partition: 0, key: Buffer.from('k'), value: Buffer.from('v') })),
    });
    await producer.close();
    const asked = requests.filter(({ apiKey }) => apiKey === METADATA).map(({ body }) => body.int32());
    expect(asked).not.toContain(ALL_TOPICS);
    expect(Math.max(...asked)).toBe(topics.length);
  });

  it('that commit two outputs and a position are of five kinds: leaders and coordinators are known', async () => {
    const producer = backend.producer(`requests-${randomUUID()}`);
    await producer.init();
    const commit = (): Promise<unknown> =>
      producer.commit({
        records: topics.map((topic) => ({ topic, partition: 0, key: Buffer.from('k'), value: Buffer.from('v') })),
        offsets: [{ groupId: clientId, topic: topics[0] ?? '', partition: 0, offset: 1 }],
      });
    // The first one looks for leaders and coordinators too.
    await commit();
    requests = [];
    await commit();
    // Some come twice: a broker that still writes the markers of the transaction before says so.
    expect(new Set(requests.map(({ apiKey }) => apiKey))).toEqual(new Set(COMMIT));
    await producer.close();
  });

  it('ask once for the ends of two tables that eight tasks wait for at the same time', async () => {
    const tables = topics.map((topic) =>
      createGlobalTable({
        backend,
        topic,
        logger: silentLogger,
        onRecord: () => undefined,
        onFatal: (error) => {
          throw error;
        },
      }),
    );
    await Promise.all(tables.map((table) => table.start()));
    const before = count(LIST_OFFSETS);
    await Promise.all(Array.from({ length: 8 }, () => tables.map((table) => table.caughtUp())).flat());
    const asked = count(LIST_OFFSETS) - before;
    await Promise.all(tables.map((table) => table.stop()));
    expect(asked).toBe(1);
  });
});
