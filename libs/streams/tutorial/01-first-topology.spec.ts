/**
 * Chapter 1: a first topology.
 *
 * A parcel is scanned wherever it passes. Each scan is a Kafka record: the key is the parcel, the value the place. In
 * this chapter scans become messages to the people who wait for their parcels.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import {
  createStreamsApp,
  createTopology,
  type ExceptionHandlers,
  silentLogger,
  type StreamRecord,
  type StreamsBackend,
} from '@waypost/streams';
import { readToEnd } from '@waypost/streams/admin';
import { createMemoryBackend, createTopologyTestDriver } from '@waypost/streams/testing';

// A plain function decides what a scan means. It does not depend on Kafka.
type Scan =
  | { readonly type: 'scan'; readonly parcel: string; readonly place: string }
  | { readonly type: 'unreadable'; readonly reason: string };

function readScan({ key, value }: StreamRecord): Scan {
  if (!key) return { type: 'unreadable', reason: 'it has no parcel' };
  if (!value) return { type: 'unreadable', reason: 'it has no place' };
  return { type: 'scan', parcel: key.toString(), place: value.toString() };
}

// A topology names one source, one processor, and the sinks that the processor writes to. Steps within a task need no
// machinery between them: a chain of processors is a chain of function calls, here readScan() and then what follows.
const parcelMessages = createTopology({
  applicationId: 'parcel-messages',
  source: 'scans',
  sinks: {
    messages: { topic: 'messages', partitioner: 'source-partition' },
    unreadable: { topic: 'unreadable-scans', partitioner: 'source-partition' },
  },
  processor: (context) => ({
    process: (record) => {
      const scan = readScan(record);
      if (scan.type === 'scan') {
        const message = `${scan.parcel} has reached ${scan.place}`;
        context.forward('messages', { key: record.key, value: Buffer.from(message) });
      } else {
        context.forward('unreadable', { key: record.key, value: Buffer.from(scan.reason) });
      }
    },
  }),
});

describe('chapter 1: a first topology', () => {
  // The test driver runs the processor for one partition, record by record. It needs no broker and never waits.
  it('runs manually, one record at a time', async () => {
    const driver = createTopologyTestDriver({ topology: parcelMessages });
    await driver.pipe({ key: Buffer.from('parcel-1'), value: Buffer.from('Utrecht') });
    expect(driver.readOutput('messages').map(({ value }) => String(value))).toEqual(['parcel-1 has reached Utrecht']);
  });

  // A record that cannot be used must not stop those after it. It is an outcome like others, with a sink of its own.
  it('skips what it cannot read, and continues', async () => {
    const driver = createTopologyTestDriver({ topology: parcelMessages });
    await driver.pipe({ key: null, value: Buffer.from('Utrecht') });
    await driver.pipe({ key: Buffer.from('parcel-1'), value: Buffer.from('Zwolle') });
    expect(driver.readOutput('unreadable').map(({ value }) => String(value))).toEqual(['it has no parcel']);
    expect(driver.readOutput('messages').map(({ value }) => String(value))).toEqual(['parcel-1 has reached Zwolle']);
  });

  // createStreamsApp() runs the same topology: it joins the consumer group `parcel-messages` and builds one task for
  // each partition of `scans` that it is given. createKafkaBackend() takes it to Kafka. The memory backend used here
  // keeps every topic in this process and is otherwise the same; both pass one suite of tests.
  it('runs as an application, with a task for each partition of its source', async () => {
    const backend = createMemoryBackend({ topics: { scans: 2, messages: 2, 'unreadable-scans': 2 }, now: Date.now });
    const app = createStreamsApp({ topology: parcelMessages, backend, logger: silentLogger, now: Date.now, onFatal });
    await app.start();
    backend.append({ topic: 'scans', partition: 0 }, { key: Buffer.from('parcel-1'), value: Buffer.from('Utrecht') });
    backend.append({ topic: 'scans', partition: 1 }, { key: Buffer.from('parcel-2'), value: Buffer.from('Arnhem') });
    await until(async () => (await valuesOf(backend, 0)).length + (await valuesOf(backend, 1)).length === 2);
    await app.stop();

    // `source-partition` writes to the partition that the record came from, so the order of a parcel's scans is kept.
    expect(await valuesOf(backend, 0)).toEqual(['parcel-1 has reached Utrecht']);
    expect(await valuesOf(backend, 1)).toEqual(['parcel-2 has reached Arnhem']);
  });

  // An exception is a bug, or an unexpected record. It parks its partition until a command retries it or leaves
  // the record out. An exception handler decides that at once: toDeadScans(), below, keeps such records.
  it('keeps a record that it fails at, and continues', async () => {
    const topics = { scans: 1, messages: 1, 'unreadable-scans': 1, 'dead-scans': 1 };
    const backend = createMemoryBackend({ topics, now: Date.now });
    const failing = createTopology({
      ...parcelMessages,
      processor: (context) => ({
        process: ({ key, value }) => {
          const { place } = JSON.parse(String(value)) as { place: string };
          context.forward('messages', { key, value: Buffer.from(place) });
        },
      }),
    });
    const settings = { backend, logger: silentLogger, now: Date.now, onFatal };
    const app = createStreamsApp({ topology: failing, ...settings, ...toDeadScans(backend) });
    for (const value of ['Utrecht', '{"place":"Zwolle"}'])
      backend.append({ topic: 'scans', partition: 0 }, { key: null, value: Buffer.from(value) });
    await app.start();
    await until(async () => (await valuesOf(backend, 0)).length === 1);
    await app.stop();
    expect(await valuesOf(backend, 0)).toEqual(['Zwolle']);
    expect(await valuesOf(backend, 0, 'dead-scans')).toEqual(['Utrecht']);
  });

  // Topics are looked at before anything runs. What is missing is named, with what to do about it.
  it('does not start without its topics, and says which one to create and how', async () => {
    const backend = createMemoryBackend({ topics: { scans: 2, messages: 3, 'unreadable-scans': 2 }, now: Date.now });
    const app = createStreamsApp({ topology: parcelMessages, backend, logger: silentLogger, now: Date.now, onFatal });
    await expect(app.start()).rejects.toThrow(
      'The topic messages, the sink messages of parcel-messages, has 3 partitions and scans has 2: a task works on the partition of its own number, so create messages with 2 partitions',
    );
  });
});

// Keeps records in a topic of their own, as a writer with a transactional id that nothing else uses. A record may come
// again after a crash.
function toDeadScans(backend: StreamsBackend): ExceptionHandlers {
  return {
    processingExceptionHandler: () => 'dead-letter',
    deadLetterQueue: async ({ topic, partition }, { key, value, headers }, { code, message }) => {
      const producer = backend.producer(`parcel-messages.dead.${topic}.${String(partition)}`);
      try {
        await producer.init();
        const why = [...headers, { key: 'reason', value: Buffer.from(`${code}: ${message}`) }];
        await producer.commit({ records: [{ topic: 'dead-scans', partition, key, value, headers: why }] });
      } finally {
        await producer.close();
      }
    },
  };
}

// An error that a rebuild of the task cannot fix goes to the application, which should end the process.
function onFatal(error: Error): never {
  throw error;
}

async function until(condition: () => Promise<boolean>): Promise<void> {
  while (!(await condition())) await sleep(10);
}

async function valuesOf(backend: StreamsBackend, partition: number, topic = 'messages'): Promise<string[]> {
  const values: string[] = [];
  await readToEnd(backend, backend.fetcher(), { topic, partition }, 0, ({ records }) => {
    for (const { value } of records) values.push(String(value));
  });
  return values;
}
