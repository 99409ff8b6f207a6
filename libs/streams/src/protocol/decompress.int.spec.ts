import { randomBytes, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Admin, Kafka, logLevel, type Producer } from 'kafkajs';
import { makeTopics } from '../../../../test/support/make-topics.js';
import { requireTestStack } from '../../../../test/support/test-stack.js';
import { KafkaClient } from '../backend/kafka/kafka-client.js';
import { silentLogger } from '../logger.js';
import { decompress } from './decompress.js';
import { fetchRequest } from './fetch.js';
import { decodeRecordBatches } from './testing/record-batches.js';

const COMPRESSION_AT = 22;
const LENGTH_AT = 8;
/** The length counts from here. */
const RECORDS_END = 12;
const BATCH_HEADER_BYTES = 61;
/** Some codecs tell only a bound of what a body unpacks to. */
const BOUND_OVER_SIZE = 255;

/** A topic with a `compression.type` is compressed again by the broker, with the libraries of the Java client. */
describe.each([
  ['gzip', 1],
  ['snappy', 2],
  ['lz4', 3],
  ['zstd', 4],
])('a batch that Java compressed with %s', (name, codec) => {
  const { brokers } = requireTestStack();
  const topic = `codec-${name}-${randomUUID()}`;
  let admin: Admin;
  let producer: Producer;
  let client: KafkaClient;

  beforeAll(async () => {
    const kafka = new Kafka({ brokers, clientId: 'codecs', logLevel: logLevel.NOTHING });
    admin = kafka.admin();
    producer = kafka.producer();
    client = new KafkaClient({ brokers, clientId: 'codecs' }, silentLogger);
    await Promise.all([admin.connect(), producer.connect()]);
    const configEntries = [{ name: 'compression.type', value: name }];
    await makeTopics(admin, [{ topic, numPartitions: 1, configEntries }]);
  });

  afterAll(async () => {
    await Promise.all([admin.disconnect(), producer.disconnect(), client.close()]);
  });

  it.each([
    ['a short text', [Buffer.from('hello')]],
    ['text that repeats over many blocks', [Buffer.alloc(700_000, 'a fleet of vehicles ')]],
    ['bytes that cannot be compressed', [randomBytes(700_000)]],
    ['many records', Array.from({ length: 5_000 }, (_, n) => Buffer.from(`{"deviceId":"van-${String(n)}"}`))],
  ])('holds the records that were produced: %s', async (_contents, values) => {
    const [written] = await producer.send({ topic, messages: values.map((value) => ({ value })) });
    const offset = Number(written?.baseOffset);
    const limits = { maxWaitMs: 100, maxBytes: 8_000_000, maxBytesPerPartition: 8_000_000 };
    const request = fetchRequest([{ topic, partition: 0, offset }], limits);
    const { partitions } = await client.callRaw(await client.leader(topic, 0), request);
    const data = partitions[0]?.data ?? Buffer.alloc(0);
    expect((data[COMPRESSION_AT] ?? 0) & 7).toBe(codec);
    const found = decodeRecordBatches(data, offset, []).records.map(({ value }) => value);
    expect(Buffer.concat(found.map((value) => value ?? Buffer.alloc(0))).equals(Buffer.concat(values))).toBe(true);
    expect(found).toHaveLength(values.length);
    const body = data.subarray(BATCH_HEADER_BYTES, RECORDS_END + data.readInt32BE(LENGTH_AT));
    const unpacked = decompress(codec, body);
    expect(decompress(codec, body, BOUND_OVER_SIZE * unpacked.length + 2 ** 23).equals(unpacked)).toBe(true);
    expect(() => decompress(codec, body, unpacked.length - 1)).toThrow(/could unpack to over|cannot be unpacked/u);
  });
});
