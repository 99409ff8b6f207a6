import { randomBytes, randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type pg from 'pg';
import { createAvroCodecs, schemaIdOf } from '@waypost/contracts';
import type { ManagementStore, NewSubscription } from '@waypost/management-store';
import { createMemoryBackend, readToEnd, silentLogger } from '@waypost/streams';
import { untilOutboxEmpty } from '../../../../test/support/test-database.js';
import { openTestStore, type TestStore } from '../../../../test/support/test-store.js';
import { createMemoryRegistry } from '../testing/memory-registry.js';
import { createOutbox } from './create-outbox.js';
import type { OutboxPublisher } from './outbox-publisher.js';
import { OUTBOX_TOPICS } from './outbox-record.js';

let database: TestStore;
let store: ManagementStore;
let sql: pg.Client;
let fleetId: string;
let broker: ReturnType<typeof createMemoryBackend>;
const registry = createMemoryRegistry();
const codecs = createAvroCodecs({ registry });
const publishers: OutboxPublisher[] = [];

beforeAll(async () => {
  database = await openTestStore();
  ({ store, sql } = database);
});
afterAll(async () => {
  await database.close();
});
beforeEach(() => {
  fleetId = `fleet-${randomBytes(4).toString('hex')}`;
  const topics = Object.fromEntries(Object.values(OUTBOX_TOPICS).map((topic) => [topic, 1]));
  broker = createMemoryBackend({ topics, now: Date.now });
});
afterEach(async () => {
  await Promise.all(publishers.splice(0).map((publisher) => publisher.stop()));
  await sql.query('TRUNCATE outbox');
});

function startPublisher(settings: { pollMs?: number } = {}): OutboxPublisher {
  const publisher = createOutbox({
    databaseUrl: database.databaseUrl,
    codecs,
    backend: broker,
    logger: silentLogger,
    now: Date.now,
    ...settings,
  });
  publishers.push(publisher);
  publisher.start();
  return publisher;
}

async function topicContents(topic: string): Promise<{ key: string; value: object | null }[]> {
  const contents: { key: string; value: object | null }[] = [];
  const fetcher = broker.fetcher();
  await readToEnd(broker, fetcher, { topic, partition: 0 }, 0, async ({ records }) => {
    for (const { key, value } of records)
      contents.push({ key: key?.toString() ?? '', value: await decode(topic, value) });
  });
  await fetcher.close();
  return contents;
}

async function decode(topic: string, value: Buffer | null): Promise<object | null> {
  if (value === null) return null;
  const codec = topic === OUTBOX_TOPICS['fleet-settings'] ? codecs.fleetSettings : codecs.webhookSubscriptions;
  await codec.resolve([schemaIdOf(value) ?? 0]);
  const decoded = codec.decode(value);
  return decoded.type === 'decoded' ? decoded.value : { undecodable: decoded };
}

async function versionsOf(key: string) {
  const contents = await topicContents(OUTBOX_TOPICS['webhook-subscription']);
  return contents
    .filter((one) => one.key === key)
    .map(({ value }) => (value as { version: number } | null)?.version ?? null);
}

function draft(): NewSubscription {
  return {
    id: randomUUID(),
    fleetId,
    eventType: 'position',
    url: `https://receiver.example/${randomUUID()}`,
    payloadFormat: 'v1',
    deviceIds: ['device-1'],
    auth: { tokenUrl: 'https://id.example/token', clientId: 'c', sealedClientSecret: 's', scope: null },
    rateLimitPerSecond: null,
    onOutage: 'fail',
    strictOrder: false,
    secrets: [{ sealed: 'sealed', expiresAt: null }],
  };
}

/** Three versions and a tombstone of one subscription. */
async function changeOften(): Promise<string> {
  const given = draft();
  const ref = { fleetId, id: given.id };
  await store.subscriptions.create([given], 1_000);
  await store.subscriptions.update(ref, { status: 'paused' }, 2_000);
  await store.subscriptions.rotateSecret(ref, { sealed: 'new', oldSignsUntil: 9_000, nowMs: 3_000 });
  await store.subscriptions.delete(ref, 4_000);
  return given.id;
}

describe('the outbox on a real database', () => {
  it('brings fleets and subscriptions to their topics as they are stored', async () => {
    startPublisher();
    await store.fleets.create({ fleetId, payloadFormat: 'legacy-v1', nowMs: 1_000 });
    const given = draft();
    const made = await store.subscriptions.create([given], 2_000);
    await untilOutboxEmpty(sql);

    const times = { createdAt: 1_000, updatedAt: 1_000 };
    const fleet = { fleetId, name: null, payloadFormat: 'legacy-v1', routes: false, version: 1, ...times };
    expect(await topicContents(OUTBOX_TOPICS['fleet-settings'])).toEqual([{ key: fleetId, value: fleet }]);
    const subscriptions = made.type === 'created' ? made.subscriptions : [];
    expect(await topicContents(OUTBOX_TOPICS['webhook-subscription'])).toEqual([
      { key: given.id, value: subscriptions[0] },
    ]);
  });

  it('hears of every change without polling, from any process', async () => {
    await store.fleets.create({ fleetId, payloadFormat: 'v1', nowMs: 1 });
    startPublisher({ pollMs: 60_000 });
    await untilOutboxEmpty(sql);
    await store.subscriptions.create([draft()], 1);
    await untilOutboxEmpty(sql);
    expect(await topicContents(OUTBOX_TOPICS['webhook-subscription'])).toHaveLength(1);
  });

  it('publishes every version in order, with two publishers at work', async () => {
    await store.fleets.create({ fleetId, payloadFormat: 'v1', nowMs: 1 });
    startPublisher();
    startPublisher();
    const ids = await Promise.all(Array.from({ length: 8 }, changeOften));
    await untilOutboxEmpty(sql);
    for (const id of ids) expect(await versionsOf(id)).toEqual([1, 2, 3, null]);
  });

  it('publishes nothing twice when a process died between the commit and the mark', async () => {
    await store.fleets.create({ fleetId, payloadFormat: 'v1', nowMs: 1 });
    const first = startPublisher();
    const [deleted, kept] = [await changeOften(), draft()];
    await store.subscriptions.create([kept], 1);
    await untilOutboxEmpty(sql);
    await first.stop();
    await sql.query('UPDATE outbox SET published_at = NULL');
    await store.subscriptions.update({ fleetId, id: kept.id }, { status: 'paused' }, 2);

    startPublisher();
    await untilOutboxEmpty(sql);

    expect(await versionsOf(deleted)).toEqual([1, 2, 3, null]);
    expect(await versionsOf(kept.id)).toEqual([1, 2]);
    expect(await topicContents(OUTBOX_TOPICS['fleet-settings'])).toHaveLength(1);
  });

  it('continues after the database has cut its connection', async () => {
    await store.fleets.create({ fleetId, payloadFormat: 'v1', nowMs: 1 });
    startPublisher();
    await untilOutboxEmpty(sql);
    await sql.query(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'waypost-outbox' AND datname = current_database()",
    );
    const id = await changeOften();
    await untilOutboxEmpty(sql);
    expect(await versionsOf(id)).toEqual([1, 2, 3, null]);
  });
});
