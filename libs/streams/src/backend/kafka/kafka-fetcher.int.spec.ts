import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type Admin, Kafka, logLevel, type Producer } from 'kafkajs';
import { makeTopics } from '../../../../../test/support/make-topics.js';
import { requireTestStack } from '../../../../../test/support/test-stack.js';
import { until } from '../../../../../test/support/until.js';
import { silentLogger } from '../../logger.js';
import type { StreamsBackend } from '../backend.js';
import { createKafkaBackend } from './kafka-backend.js';

const { brokers } = requireTestStack();

let topic: string;
let admin: Admin;
let other: Producer;
let backend: StreamsBackend;
let logged: [string, object | undefined][];

beforeEach(async () => {
  topic = `stalls-${randomUUID()}`;
  logged = [];
  const log = (event: string, fields?: object): void => void logged.push([event, fields]);
  const kafka = new Kafka({ brokers, clientId: 'stalls', logLevel: logLevel.NOTHING });
  admin = kafka.admin();
  other = kafka.producer({ transactionalId: topic, maxInFlightRequests: 1 });
  await Promise.all([admin.connect(), other.connect()]);
  await makeTopics(admin, [{ topic, numPartitions: 1, replicationFactor: 1 }]);
  const logger = { ...silentLogger, warn: log, info: log };
  backend = createKafkaBackend({ kafka: { brokers, clientId: 'stalls' }, logger, now: Date.now });
});

afterEach(() => Promise.all([admin.disconnect(), other.disconnect(), backend.close()]));

describe('a partition with an open transaction of another producer', () => {
  it('stalls its reader visibly, once in the log, and goes on when the transaction ends', async () => {
    const fetcher = backend.fetcher();
    const batch = fetcher.open({ topic, partition: 0 }, 0).next();
    const startedAt = Date.now();
    const transaction = await other.transaction();
    await transaction.send({ topic, messages: [{ value: 'v' }] });

    await until(() => Promise.resolve(backend.stalls.all().length > 0), { timeoutMs: 30_000 });
    const stall = { kind: 'read', name: `${topic}-0`, cause: 'A transaction of another producer is open.' };
    expect(backend.stalls.all()).toEqual([{ ...stall, since: expect.any(Number) }]);
    expect(backend.stalls.all()[0]?.since).toBeGreaterThanOrEqual(startedAt);

    await transaction.commit();
    expect((await batch).records.map(({ value }) => String(value))).toEqual(['v']);
    expect(backend.stalls.all()).toEqual([]);
    expect(logged.map(([event]) => event)).toEqual(['stalled', 'stall_ended']);
    await fetcher.close();
  });
});
