import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createGzip } from 'node:zlib';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import kafkajs, { CompressionTypes, Kafka, logLevel, Partitioners } from 'kafkajs';
import { makeTopics } from '../../../../test/support/make-topics.js';
import { requireTestStack } from '../../../../test/support/test-stack.js';
import { until } from '../../../../test/support/until.js';
import { createKafkaBackend } from '../backend/kafka/kafka-backend.js';
import { readToEnd } from '../backend/log-reader.js';
import { silentLogger } from '../logger.js';
import { writeVarint } from '../protocol/bytes.js';
import { StreamRecord } from '../record.js';
import type { ParkingReason } from './parking.js';
import { createStreamsApp } from './streams-app.js';
import type { TaskManager } from './task-manager.js';
import { echoTopology } from './testing/echo-topology.js';

const { brokers } = requireTestStack();
const kafka = new Kafka({ brokers, clientId: 'parking', logLevel: logLevel.NOTHING });
const admin = kafka.admin();
const producer = kafka.producer({ createPartitioner: Partitioners.DefaultPartitioner });
const backend = createKafkaBackend({
  kafka: { brokers, clientId: 'parking' },
  logger: silentLogger,
  now: Date.now,
});

const BAD = 2;
const OTHERS = [0, 1, 3];
const MAX_MESSAGE_BYTES = 900_000;

let name: string;
let input: string;
let output: string;
let apps: TaskManager[];
let children: ChildProcess[];
let load: NodeJS.Timeout;
let sent: number;
let isFixed: boolean;
let kept: StreamRecord[];
let fatal: Error[];

beforeAll(() => Promise.all([admin.connect(), producer.connect()]));
afterAll(() => Promise.all([admin.disconnect(), producer.disconnect(), backend.close()]));

/** Four partitions, of which three get a record every 20 ms. */
beforeEach(async () => {
  name = `parking-${randomUUID()}`;
  [input, output] = [`${name}.input`, `${name}.output`];
  [apps, children, kept, fatal, sent, isFixed] = [[], [], [], [], 0, false];
  const configEntries = [{ name: 'max.message.bytes', value: String(MAX_MESSAGE_BYTES) }];
  const inputEntries = [{ name: 'max.message.bytes', value: String(10 * MAX_MESSAGE_BYTES) }];
  await makeTopics(admin, [
    { topic: input, numPartitions: 4, replicationFactor: 1, configEntries: inputEntries },
    { topic: output, numPartitions: 4, replicationFactor: 1, configEntries },
  ]);
  load = setInterval(() => {
    const messages = OTHERS.map((partition) => ({ partition, value: String(sent++) }));
    producer.send({ topic: input, messages }).catch(() => undefined);
  }, 20);
});

afterEach(async () => {
  clearInterval(load);
  for (const child of children) child.kill('SIGKILL');
  await Promise.all(apps.map((app) => app.stop()));
});

async function send(...values: string[]): Promise<void> {
  await producer.send({ topic: input, messages: values.map((value) => ({ partition: BAD, value })) });
}

/** A batch of two records, of which the second unpacks to more than a reader takes. No broker minds. */
async function sendBomb(): Promise<void> {
  const packed = await gzipBomb(300);
  const original = kafkajs.CompressionCodecs[CompressionTypes.GZIP];
  kafkajs.CompressionCodecs[CompressionTypes.GZIP] = () => ({ compress: () => Promise.resolve(packed) });
  const messages = ['first', 'second'].map((value) => ({ partition: BAD, value }));
  await producer.send({ topic: input, compression: CompressionTypes.GZIP, messages });
  kafkajs.CompressionCodecs[CompressionTypes.GZIP] = original;
}

async function gzipBomb(mebibytes: number): Promise<Buffer> {
  const gzip = createGzip();
  const packed: Buffer[] = [];
  gzip.on('data', (chunk: Buffer) => packed.push(chunk));
  const mebibyte = Buffer.alloc(1024 * 1024);
  gzip.write(Buffer.concat([recordHead(0, 0), Buffer.from([0])]));
  gzip.write(recordHead(1, mebibytes * mebibyte.length));
  for (let i = 0; i < mebibytes; i++) if (!gzip.write(mebibyte)) await once(gzip, 'drain');
  gzip.end(Buffer.from([0]));
  await once(gzip, 'end');
  return Buffer.concat(packed);
}

/** The bytes before the value and the headers. */
function recordHead(offsetDelta: number, valueBytes: number): Buffer {
  const [fields, length] = [Buffer.alloc(20), Buffer.alloc(5)];
  fields.set([0, 0, 2 * offsetDelta, 1]);
  const end = writeVarint(fields, 4, valueBytes);
  return Buffer.concat([length.subarray(0, writeVarint(length, 0, end + valueBytes + 1)), fields.subarray(0, end)]);
}

async function start(): Promise<TaskManager> {
  const app = createStreamsApp({
    topology: echoTopology(name, () => isFixed),
    backend,
    sessionTimeoutMs: 6_000,
    logger: silentLogger,
    now: Date.now,
    onFatal: (error) => fatal.push(error),
    deadLetterQueue: (_, { offset, timestamp, key, value }) => {
      kept.push(StreamRecord.of({ offset, timestamp, key, value }));
      return Promise.resolve();
    },
  });
  apps.push(app);
  await app.start();
  return app;
}

async function outputs(partition: number): Promise<string[]> {
  const found: string[] = [];
  const fetcher = backend.fetcher();
  await readToEnd(backend, fetcher, { topic: output, partition }, 0, ({ records }) => {
    found.push(...records.map(({ value }) => String(value)));
  });
  await fetcher.close();
  return found;
}

function parkedOf(app: TaskManager): ParkingReason | undefined {
  return app.tasks().find(({ state }) => state === 'parked')?.parked ?? undefined;
}

async function untilParked(app: TaskManager, code: string): Promise<ParkingReason> {
  await until(() => Promise.resolve(parkedOf(app)?.code === code), { timeoutMs: 20_000 });
  return parkedOf(app) as ParkingReason;
}

/** The other three partitions get their records, and the process goes on. */
async function expectOthersToGoOn(app: TaskManager): Promise<void> {
  const before = await Promise.all(OTHERS.map(outputs));
  for (const [i, partition] of OTHERS.entries())
    await until(async () => (await outputs(partition)).length > (before[i]?.length ?? 0) + 20, { timeoutMs: 10_000 });
  expect(app.tasks().filter(({ state }) => state === 'running')).toHaveLength(3);
  expect([app.ready(), fatal]).toEqual([true, []]);
}

describe('one bad partition of four under load (R-45)', () => {
  it('is parked at a record that makes the handler throw, and continues after it on a skip', async () => {
    await send('a', 'b', 'poison', 'c');
    const app = await start();
    expect(await untilParked(app, 'PROCESSING_FAILED')).toMatchObject({ offset: 2, message: 'cannot process this' });
    await expectOthersToGoOn(app);
    expect(await outputs(BAD)).toEqual(['a', 'b']);

    expect(app.command({ topic: input, partition: BAD }, 'skip')).toBeNull();
    await until(async () => (await outputs(BAD)).length === 3);
    expect(await outputs(BAD)).toEqual(['a', 'b', 'c']);
    expect(kept.map(({ offset, value }) => [offset, String(value)])).toEqual([[2, 'poison']]);
    await until(() => Promise.resolve(parkedOf(app) === undefined));
  });

  it('is parked at a position that the log has lost, and goes on with its first record by a skip', async () => {
    await send('a');
    const first = await start();
    await until(async () => (await outputs(BAD)).length === 1, { timeoutMs: 20_000 });
    await first.stop();
    await send('deleted', 'deleted too', 'b');
    // The client knows the leaders of a topic only once it has asked for something else of it.
    await admin.fetchTopicOffsets(input);
    await admin.deleteTopicRecords({ topic: input, partitions: [{ partition: BAD, offset: '3' }] });

    const app = await start();
    expect(await untilParked(app, 'OFFSET_OUT_OF_RANGE')).toMatchObject({ offset: null });
    await expectOthersToGoOn(app);
    expect(app.command({ topic: input, partition: BAD }, 'skip')).toBeNull();
    await until(async () => (await outputs(BAD)).length === 2);
    expect(await outputs(BAD)).toEqual(['a', 'b']);
    expect(kept).toEqual([]);
  });

  it('is parked at an output that is too large, found by halves, and goes on once the topic allows it', async () => {
    // No gzip makes it small enough.
    const large = randomBytes(2 * MAX_MESSAGE_BYTES).toString('base64');
    await send('a', 'b', 'c', large, 'd');
    const app = await start();
    const reason = await untilParked(app, 'RECORD_TOO_LARGE');
    expect(reason).toMatchObject({ offset: 3, message: expect.stringContaining(`Writing to ${output}`) });
    expect(reason.nextRetryAt).toBeGreaterThan(reason.since);
    await expectOthersToGoOn(app);
    // The processor's transaction is aborted, so nothing waits for its time-out.
    await send('e');
    expect(await outputs(BAD)).toEqual(['a', 'b', 'c']);

    const configEntries = [{ name: 'max.message.bytes', value: String(10 * MAX_MESSAGE_BYTES) }];
    await admin.alterConfigs({
      validateOnly: false,
      resources: [{ type: kafkajs.ConfigResourceTypes.TOPIC, name: output, configEntries }],
    });
    await until(
      async () => {
        app.command({ topic: input, partition: BAD }, 'retry');
        return (await outputs(BAD)).length === 6;
      },
      { timeoutMs: 20_000 },
    );
    expect(await outputs(BAD)).toEqual(['a', 'b', 'c', large, 'd', 'e']);
  });

  it('is parked at a batch that unpacks to too much, after the records before it, and continues on a skip', async () => {
    await send('a', 'b', 'c');
    await sendBomb();
    await send('d');
    const app = await start();
    const reason = await untilParked(app, 'CORRUPT_BATCH');
    expect(reason.offset).toBe(3);
    expect(reason.message).toContain(`The records 3 to 4 of ${input}-${String(BAD)} cannot be decoded: `);
    await expectOthersToGoOn(app);
    expect(await outputs(BAD)).toEqual(['a', 'b', 'c']);

    expect(app.command({ topic: input, partition: BAD }, 'skip')).toBeNull();
    await until(async () => (await outputs(BAD)).length === 4);
    expect(await outputs(BAD)).toEqual(['a', 'b', 'c', 'd']);
    expect(kept).toMatchObject([{ offset: 3, timestamp: expect.any(Number), key: null, value: null }]);
    await until(() => Promise.resolve(parkedOf(app) === undefined));
  }, 90_000);

  it('is parked again by the next owner after kill -9, which repeats and loses nothing', async () => {
    await send('a', 'b', 'poison', 'c');
    const program = 'libs/streams/src/runtime/testing/echo-process.ts';
    const args = ['--import', './test/support/typescript-loader.mjs', program, brokers.join(','), name];
    const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] });
    children.push(child);
    let printed = '';
    child.stdout.on('data', (chunk: Buffer) => (printed += String(chunk)));
    await until(() => Promise.resolve(printed.includes('PROCESSING_FAILED')), { timeoutMs: 30_000 });
    child.kill('SIGKILL');

    const app = await start();
    expect(await untilParked(app, 'PROCESSING_FAILED')).toMatchObject({ offset: 2 });
    await expectOthersToGoOn(app);
    isFixed = true;
    expect(app.command({ topic: input, partition: BAD }, 'retry')).toBeNull();
    await until(async () => (await outputs(BAD)).length === 4);
    expect(await outputs(BAD)).toEqual(['a', 'b', 'poison', 'c']);
  }, 60_000);
});
