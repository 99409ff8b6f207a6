import { randomBytes, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { type Admin, Kafka, logLevel } from 'kafkajs';
import { makeTopics } from '../../../../../test/support/make-topics.js';
import { requireTestStack } from '../../../../../test/support/test-stack.js';
import { silentLogger } from '../../logger.js';
import type { OutgoingRecord } from '../../record.js';
import { readToEnd } from '../log-reader.js';
import { createKafkaBackend } from './kafka-backend.js';

const { brokers } = requireTestStack();
const kafka = { brokers, clientId: 'kafka-producer' };
const backend = createKafkaBackend({ kafka, logger: silentLogger, now: Date.now });
const SMALL = `small-${randomUUID()}`;
const USUAL = `usual-${randomUUID()}`;
let admin: Admin;

beforeAll(async () => {
  admin = new Kafka({ ...kafka, logLevel: logLevel.NOTHING }).admin();
  await admin.connect();
  const configEntries = [{ name: 'max.message.bytes', value: '1000' }];
  await makeTopics(admin, [
    { topic: SMALL, replicationFactor: 1, configEntries },
    { topic: USUAL, replicationFactor: 1 },
  ]);
});

afterAll(async () => {
  await Promise.all([admin.disconnect(), backend.close()]);
});

function record(topic: string, value: Buffer | string): OutgoingRecord {
  return { topic, partition: 0, key: null, value: Buffer.from(value) };
}

async function valuesOf(topic: string): Promise<string[]> {
  const fetcher = backend.fetcher();
  const values: string[] = [];
  await readToEnd(backend, fetcher, { topic, partition: 0 }, 0, ({ records }) => {
    for (const { value } of records) values.push(String(value));
  });
  await fetcher.close();
  return values;
}

it('A producer goes on after each refused transaction, nothing of which can be read', async () => {
  const producer = backend.producer(`refused-${randomUUID()}`);
  await producer.init();
  const groupId = `refused-${randomUUID()}`;
  for (const round of [1, 2, 3]) {
    const offsets = [{ topic: USUAL, partition: 0, groupId, offset: 100 + round }];
    // The batch of one partition is appended, that of the other is not: their sequence numbers differ from then on.
    const refused = { records: [record(USUAL, 'refused'), record(SMALL, randomBytes(5_000))], offsets };
    await expect(producer.commit(refused)).rejects.toMatchObject({ code: 'RECORD_TOO_LARGE' });
    await producer.commit({ records: [record(USUAL, `usual ${String(round)}`), record(SMALL, 'small')] });
  }
  await producer.close();
  expect(await valuesOf(USUAL)).toEqual(['usual 1', 'usual 2', 'usual 3']);
  expect(await valuesOf(SMALL)).toEqual(['small', 'small', 'small']);
  const member = backend.group({ groupId, topics: [USUAL] });
  expect(await member.committed({ topic: USUAL, partition: 0 })).toBeNull();
  await member.leave();
});
