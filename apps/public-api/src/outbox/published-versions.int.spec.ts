import { randomBytes, randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type pg from 'pg';
import { createAvroCodecs, resolveBatch, topics } from '@waypost/contracts';
import type { ManagementStore, StoredReplay } from '@waypost/management-store';
import { createMemoryBackend, partitionForKey, readToEnd, silentLogger } from '@waypost/streams';
import { subscriptionOf } from '../../../../test/support/samples.js';
import { untilOutboxEmpty } from '../../../../test/support/test-database.js';
import { openTestStore, type TestStore } from '../../../../test/support/test-store.js';
import { createMemoryRegistry } from '../testing/memory-registry.js';
import { createOutbox } from './create-outbox.js';
import type { OutboxPublisher } from './outbox-publisher.js';
import { OUTBOX_TOPICS } from './outbox-record.js';

const PARTITIONS = 4;
const TOPIC = topics.webhookReplays.name;

let database: TestStore;
let store: ManagementStore;
let sql: pg.Client;
let broker: ReturnType<typeof createMemoryBackend>;
const registry = createMemoryRegistry();
const codecs = createAvroCodecs({ registry });
const publishers: OutboxPublisher[] = [];
const fleetId = `fleet-${randomBytes(4).toString('hex')}`;

beforeAll(async () => {
  database = await openTestStore();
  ({ store, sql } = database);
  await store.fleets.create({ fleetId, payloadFormat: 'v1', nowMs: 1_000 });
});
afterAll(async () => {
  await database.close();
});
beforeEach(() => {
  const counts = Object.values(OUTBOX_TOPICS).map((topic) => [topic, topic === TOPIC ? PARTITIONS : 1] as const);
  broker = createMemoryBackend({ topics: Object.fromEntries(counts), now: Date.now });
});
afterEach(async () => {
  await Promise.all(publishers.splice(0).map((publisher) => publisher.stop()));
});

async function publishAll(): Promise<void> {
  const settings = { databaseUrl: database.databaseUrl, codecs, backend: broker, logger: silentLogger, now: Date.now };
  const publisher = createOutbox(settings);
  publishers.push(publisher);
  publisher.start();
  await untilOutboxEmpty(sql);
  await publisher.stop();
}

/** `partition replay version`, or `deleted`, of all partitions. */
async function published(): Promise<string[]> {
  const found: string[] = [];
  const fetcher = broker.fetcher();
  for (let partition = 0; partition < PARTITIONS; partition++) {
    await readToEnd(broker, fetcher, { topic: TOPIC, partition }, 0, async ({ records }) => {
      await resolveBatch(codecs.webhookReplays, records);
      for (const { key, value } of records) {
        const decoded = value && codecs.webhookReplays.decode(value);
        const version = decoded?.type === 'decoded' ? String(decoded.value.version) : 'deleted';
        found.push(`${String(partition)} ${key?.toString() ?? ''} ${version}`);
      }
    });
  }
  await fetcher.close();
  return found.sort();
}

async function newReplay(nowMs: number): Promise<StoredReplay> {
  const {
    status: _,
    disabledReason: __,
    version: ___,
    createdAt: ____,
    updatedAt: _____,
    ...draft
  } = subscriptionOf({
    id: randomUUID(),
    fleetId,
    url: `https://receiver.example/${randomUUID()}`,
  });
  await store.subscriptions.create([draft], nowMs);
  const asked = { startDate: 1, endDate: 2, status: null, eventType: null, deviceId: null, ratePerSecond: 9 };
  const made = await store.replays.create({ fleetId, id: draft.id }, { replayId: randomUUID(), ...asked }, nowMs);
  if (made.type !== 'created') throw new Error(made.type);
  return made.stored;
}

describe('replays in their topic', () => {
  it('lie in the partition of their subscription in all versions, deletion included, and none is published twice', async () => {
    const made = [await newReplay(1_000), await newReplay(1_000), await newReplay(1_000)];
    for (const { replay } of made)
      await store.replays.cancel({ fleetId, id: replay.subscriptionId }, replay.replayId, 2_000);
    const lines = (versions: string[]): string[] =>
      made
        .flatMap(({ replay: { replayId, subscriptionId } }) => {
          const partition = partitionForKey(Buffer.from(subscriptionId), PARTITIONS);
          return versions.map((version) => `${String(partition)} ${replayId} ${version}`);
        })
        .sort();

    await publishAll();
    expect(await published()).toEqual(lines(['1', '2']));

    // As after a crash between the commit and the mark.
    await sql.query('UPDATE outbox SET published_at = NULL');
    await publishAll();
    expect(await published()).toEqual(lines(['1', '2']));

    const later = await newReplay(40 * 86_400_000);
    await sql.query('UPDATE outbox SET published_at = NULL');
    await publishAll();
    const old = (await published()).filter((line) => !line.includes(later.replay.replayId));
    expect(old).toEqual(lines(['1', '2', 'deleted']));
  });
});
