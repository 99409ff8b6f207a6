import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Admin, Kafka, logLevel, type Producer } from 'kafkajs';
import { makeTopics } from '../../../../test/support/make-topics.js';
import { requireTestStack } from '../../../../test/support/test-stack.js';
import { until } from '../../../../test/support/until.js';
import type { StreamsBackend } from '../backend/backend.js';
import { createKafkaBackend } from '../backend/kafka/kafka-backend.js';
import { readToEnd } from '../backend/log-reader.js';
import { silentLogger } from '../logger.js';
import { type KeyValueStore, keyValueStore } from '../state/key-value-store.js';
import { ChangelogStore } from './changelog-store.js';

const { brokers } = requireTestStack();
const kafka = new Kafka({ brokers, clientId: 'restore', logLevel: logLevel.NOTHING });
const admin: Admin = kafka.admin();
const producer: Producer = kafka.producer();
const backend: StreamsBackend = createKafkaBackend({
  kafka: { brokers, clientId: 'restore' },
  logger: silentLogger,
  now: Date.now,
});

function textStore(changelogTopic: string) {
  return keyValueStore<string>({
    changelogTopic,
    serde: { serialize: (text) => Buffer.from(text), deserialize: (bytes) => bytes.toString() },
  });
}

/** Compacted within seconds; tombstones and markers go with the first cleaning after them. */
async function createChangelog(): Promise<string> {
  const topic = `changelog-${randomUUID()}`;
  const configs = {
    'cleanup.policy': 'compact',
    'segment.ms': '100',
    'min.cleanable.dirty.ratio': '0.001',
    'delete.retention.ms': '0',
  };
  const configEntries = Object.entries(configs).map(([name, value]) => ({ name, value }));
  await makeTopics(admin, [{ topic, numPartitions: 1, replicationFactor: 1, configEntries }]);
  return topic;
}

async function put(topic: string, entries: Readonly<Record<string, string | null>>): Promise<void> {
  const messages = Object.entries(entries).map(([key, value]) => ({ partition: 0, key, value }));
  await producer.send({ topic, messages });
}

/** As the runtime writes it: in a transaction, with a marker after it. */
async function commit(topic: string, entries: Readonly<Record<string, string | null>>): Promise<void> {
  const transactional = backend.producer(`restore-${randomUUID()}`);
  await transactional.init();
  const records = Object.entries(entries).map(([key, value]) => ({
    topic,
    partition: 0,
    key: Buffer.from(key),
    value: value === null ? null : Buffer.from(value),
  }));
  await transactional.commit({ records });
  await transactional.close();
}

async function abort(topic: string, entries: Readonly<Record<string, string>>): Promise<void> {
  const transactional = kafka.producer({ transactionalId: `aborting-${randomUUID()}`, maxInFlightRequests: 1 });
  await transactional.connect();
  const transaction = await transactional.transaction();
  const messages = Object.entries(entries).map(([key, value]) => ({ partition: 0, key, value }));
  await transaction.send({ topic, messages });
  await transaction.abort();
  await transactional.disconnect();
}

async function keysIn(topic: string): Promise<string[]> {
  const fetcher = backend.fetcher();
  const keys: string[] = [];
  await readToEnd(backend, fetcher, { topic, partition: 0 }, 0, ({ records }) => {
    keys.push(...records.map(({ key }) => String(key)));
  });
  await fetcher.close();
  return keys;
}

/** The cleaner leaves the newest segment alone, and a segment ends when a later record comes: hence `meanwhile`. */
async function cleaned(
  topic: string,
  isClean: (keys: readonly string[]) => boolean,
  meanwhile: () => Promise<void>,
): Promise<void> {
  const deadline = Date.now() + 45_000;
  for (let second = 1; !isClean(await keysIn(topic)); second++) {
    if (Date.now() > deadline) throw new Error(`The cleaner left ${(await keysIn(topic)).join()}.`);
    if (second % 5 === 0) await meanwhile();
    await new Promise((resolve) => setTimeout(resolve, 1_000));
  }
}

async function restored(topic: string, keys: readonly string[]): Promise<(string | undefined)[]> {
  const store = newChangelogStore(topic);
  await store.open(new AbortController().signal);
  return keys.map((key) => viewOf(store).get(key));
}

function newChangelogStore(topic: string): ChangelogStore {
  return new ChangelogStore('texts', textStore(topic), 0, {
    topology: { applicationId: 'restored' },
    backend,
    stateDir: undefined,
    checkpointIntervalMs: 0,
    logger: silentLogger,
    now: Date.now,
  });
}

function viewOf({ store }: ChangelogStore): KeyValueStore<string> {
  return store as unknown as KeyValueStore<string>;
}

beforeAll(() => Promise.all([admin.connect(), producer.connect()]));
afterAll(() => Promise.all([admin.disconnect(), producer.disconnect(), backend.close()]));

describe('the restore of a store from a real changelog', () => {
  it('takes an empty changelog for an empty store', async () => {
    expect(await restored(await createChangelog(), ['a'])).toEqual([undefined]);
  });

  it('ends after the marker of the last transaction', async () => {
    const topic = await createChangelog();
    await commit(topic, { a: '1', b: '1' });
    await commit(topic, { a: '2' });
    expect(await restored(topic, ['a', 'b'])).toEqual(['2', '1']);
  });

  it('ends after a transaction that was rolled back, without its records', async () => {
    const topic = await createChangelog();
    await commit(topic, { a: '1' });
    await abort(topic, { a: 'aborted', b: 'aborted' });
    expect(await restored(topic, ['a', 'b'])).toEqual(['1', undefined]);
  });

  it('ends where nothing but rolled back transactions is', async () => {
    const topic = await createChangelog();
    await abort(topic, { a: 'aborted' });
    await abort(topic, { a: 'aborted' });
    expect(await restored(topic, ['a'])).toEqual([undefined]);
  });

  it('reads a compacted log with holes, deletes by tombstones, and ends after what the cleaner took away', async () => {
    const topic = await createChangelog();
    for (let round = 0; round < 20; round++) await put(topic, { a: String(round), b: String(round) });
    await commit(topic, { a: 'last', c: '1' });
    await abort(topic, { c: 'aborted' });
    await put(topic, { b: null });
    await new Promise((resolve) => setTimeout(resolve, 300));
    await put(topic, { d: 'newest' });
    const expected = ['last', undefined, '1', 'newest'];
    await cleaned(
      topic,
      (keys) => keys.length <= 4,
      () => Promise.resolve(),
    );
    expect(await restored(topic, ['a', 'b', 'c', 'd'])).toEqual(expected);
    // The tombstone goes with a later cleaning.
    await cleaned(
      topic,
      (keys) => !keys.includes('b'),
      () => put(topic, { d: 'newest' }),
    );
    expect(await restored(topic, ['a', 'b', 'c', 'd'])).toEqual(expected);
  }, 90_000);

  it('reads only the tail after the first time, and sees what others have written since', async () => {
    const topic = await createChangelog();
    await commit(topic, { a: '1', b: '1' });
    const store = newChangelogStore(topic);
    await store.open(new AbortController().signal);
    await commit(topic, { b: null });
    await abort(topic, { a: 'aborted' });
    await store.open(new AbortController().signal);
    expect(viewOf(store).get('a')).toBe('1');
    expect(viewOf(store).get('b')).toBeUndefined();
  });

  it('starts over when the topic was deleted and made again, even if its offsets reach as far', async () => {
    const topic = await createChangelog();
    await put(topic, { a: '1', b: '1' });
    const store = newChangelogStore(topic);
    await store.open(new AbortController().signal);
    await admin.deleteTopics({ topics: [topic] });
    await until(async () => !(await admin.listTopics()).includes(topic));
    await makeTopics(admin, [{ topic, numPartitions: 1, replicationFactor: 1 }]);
    await put(topic, { c: '1', d: '1', e: '1' });
    await store.open(new AbortController().signal);
    expect(['a', 'b', 'c', 'd'].map((key) => viewOf(store).get(key))).toEqual([undefined, undefined, '1', '1']);
  }, 60_000);
});
