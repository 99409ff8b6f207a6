import { randomUUID } from 'node:crypto';
import { createRequire } from 'node:module';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Admin, CompressionTypes, Kafka, logLevel, type Producer } from 'kafkajs';
import { makeTopics } from '../../../../../test/support/make-topics.js';
import { requireTestStack } from '../../../../../test/support/test-stack.js';
import { silentLogger } from '../../logger.js';
import { fetchRequest } from '../../protocol/fetch.js';
import { decodeRecordBatches } from '../../protocol/testing/record-batches.js';
import { KafkaClient } from './kafka-client.js';

/** What a real broker answers, byte for byte, decoded by us and by kafkajs. */
const require = createRequire(import.meta.url);
const stockResponse = require('kafkajs/src/protocol/requests/fetch/v11/response') as {
  decode(bytes: Buffer): Promise<{ responses: { partitions: object[] }[] }>;
};
const StockBatch = require('kafkajs/src/consumer/batch') as new (
  topic: string,
  position: number,
  partition: object,
) => { messages: { offset: string; timestamp: string; key: Buffer | null; value: Buffer | null }[] };

const { brokers } = requireTestStack();
const kafka = new Kafka({ brokers, clientId: 'stock-fetch', logLevel: logLevel.NOTHING });
const limits = { maxWaitMs: 100, maxBytes: 1_000_000, maxBytesPerPartition: 1_000_000 };
const topic = `stock-fetch-${randomUUID()}`;

let admin: Admin;
let plainWriter: Producer;
let transactions: Producer;
let client: KafkaClient;

beforeAll(async () => {
  admin = kafka.admin();
  plainWriter = kafka.producer();
  transactions = kafka.producer({ transactionalId: topic, maxInFlightRequests: 1, retry: { initialRetryTime: 20 } });
  client = new KafkaClient({ brokers, clientId: 'stock-fetch' }, silentLogger);
  await Promise.all([admin.connect(), plainWriter.connect(), transactions.connect()]);
  await makeTopics(admin, [{ topic, numPartitions: 1, replicationFactor: 1 }]);
});

afterAll(async () => {
  await Promise.all([admin.disconnect(), plainWriter.disconnect(), transactions.disconnect(), client.close()]);
});

async function fetchBytes(offset: number): Promise<Buffer> {
  const leader = await client.leader(topic, 0);
  const request = fetchRequest([{ topic, partition: 0, offset }], limits);
  return client.callRaw(leader, { ...request, decode: (payload: Buffer) => Buffer.from(payload) });
}

async function inTransaction(values: readonly string[], outcome: 'commit' | 'abort'): Promise<void> {
  const transaction = await transactions.transaction();
  await transaction.send({ topic, messages: values.map((value) => ({ partition: 0, key: 'k', value })) });
  await transaction[outcome]();
}

describe('a fetch response of a real broker', () => {
  it('is decoded as kafkajs decodes it, from every position in the log', async () => {
    await plainWriter.send({ topic, messages: [{ key: 'a', value: 'plain', headers: { trace: '1' } }] });
    await inTransaction(['aborted 1', 'aborted 2'], 'abort');
    await inTransaction(['kept 1', 'kept 2', 'kept 3'], 'commit');
    const messages = [{ key: null, value: null }, { value: 'zipped' }];
    await plainWriter.send({ topic, compression: CompressionTypes.GZIP, messages });
    await inTransaction(['aborted 3'], 'abort');
    await inTransaction(['kept 4'], 'commit');

    const seen: string[] = [];
    for (let position = 0; position < 14; position++) {
      const bytes = await fetchBytes(position);
      const [ours] = fetchRequest([], limits).decode(bytes).partitions;
      if (!ours) throw new Error('The response names no partition.');
      const decoded = decodeRecordBatches(ours.data, position, ours.aborted);
      const { responses } = await stockResponse.decode(bytes);
      const stock = new StockBatch(topic, position, responses[0]?.partitions[0] ?? {});
      expect(decoded.records.map(({ offset, timestamp, key, value }) => ({ offset, timestamp, key, value }))).toEqual(
        stock.messages.map(({ offset, timestamp, key, value }) => ({
          offset: Number(offset),
          timestamp: Number(timestamp),
          key,
          value,
        })),
      );
      expect(decoded.nextOffset).toBe(14);
      if (position === 0) seen.push(...decoded.records.map(({ value }) => value?.toString() ?? 'null'));
    }
    expect(seen).toEqual(['plain', 'kept 1', 'kept 2', 'kept 3', 'null', 'zipped', 'kept 4']);
  });
});
