import { randomBytes, randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type pg from 'pg';
import { createAvroCodecs, resolveBatch, type SubjectCodec } from '@waypost/contracts';
import { testDelivery, type WebhookDelivery } from '@waypost/domain';
import type { ManagementStore, NewSubscription } from '@waypost/management-store';
import { partitionForKey, silentLogger } from '@waypost/streams';
import { readToEnd } from '@waypost/streams/admin';
import { createMemoryBackend } from '@waypost/streams/testing';
import { createMemoryRegistry } from '../../../../test/support/registry/memory-registry.js';
import { untilOutboxEmpty } from '../../../../test/support/test-database.js';
import { openTestStore, type TestStore } from '../../../../test/support/test-store.js';
import { createOutbox } from './create-outbox.js';
import type { OutboxPublisher } from './outbox-publisher.js';
import { OUTBOX_TOPICS } from './outbox-record.js';

let database: TestStore;
let store: ManagementStore;
let sql: pg.Client;
let fleetId: string;
let broker: ReturnType<typeof createMemoryBackend>;
const codecs = createAvroCodecs({ registry: createMemoryRegistry() });
const PARTITIONS = 4;
const { 'fleet-settings': SETTINGS, 'webhook-subscription': SUBSCRIPTIONS } = OUTBOX_TOPICS;
const { 'webhook-replay': REPLAYS, 'webhook-delivery': DELIVERIES } = OUTBOX_TOPICS;
const publishers: OutboxPublisher[] = [];

/** A row that is given again is as it was before: the mark has not happened. */
const KEEP_VALUES = `
  CREATE FUNCTION keep_value() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN NEW.value := OLD.value; RETURN NEW; END';
  CREATE TRIGGER keep_value BEFORE UPDATE ON outbox FOR EACH ROW EXECUTE FUNCTION keep_value()`;

beforeAll(async () => {
  database = await openTestStore();
  ({ store, sql } = database);
  await sql.query(KEEP_VALUES);
});
afterAll(async () => {
  await database.close();
});
beforeEach(() => {
  fleetId = `fleet-${randomBytes(4).toString('hex')}`;
  const partitionsOf = (topic: string) => (topic === REPLAYS || topic === DELIVERIES ? PARTITIONS : 1);
  const topics = Object.fromEntries(Object.values(OUTBOX_TOPICS).map((topic) => [topic, partitionsOf(topic)]));
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
    nowMs: Date.now,
    monotonicMs: () => performance.now(),
    ...settings,
  });
  publishers.push(publisher);
  publisher.start();
  return publisher;
}

interface Published {
  readonly partition: number;
  readonly key: string;
  readonly value: object | null;
}

/** All partitions, one after the other. */
async function topicContents(topic: string): Promise<Published[]> {
  const contents: Published[] = [];
  const fetcher = broker.fetcher();
  const codec = codecOf(topic);
  for (let partition = 0; partition < ((await broker.partitionCount(topic)) ?? 0); partition++) {
    await readToEnd(broker, fetcher, { topic, partition }, 0, async ({ records }) => {
      await resolveBatch(codec, records);
      for (const { key, value } of records) {
        const decoded = value && codec.decode(value);
        const shown = decoded?.type === 'decoded' ? decoded.value : decoded;
        contents.push({ partition, key: key?.toString() ?? '', value: shown });
      }
    });
  }
  await fetcher.close();
  return contents;
}

function codecOf(topic: string): SubjectCodec<object> {
  if (topic === SETTINGS) return codecs.fleetSettings;
  if (topic === REPLAYS) return codecs.webhookReplays;
  return topic === DELIVERIES ? codecs.webhookDeliveries : codecs.webhookSubscriptions;
}

function versionIn({ value }: Published): number | null {
  return (value as { version: number } | null)?.version ?? null;
}

async function versionsOf(key: string) {
  return (await topicContents(SUBSCRIPTIONS)).filter((one) => one.key === key).map(versionIn);
}

/** As when each process so far had died between the commit and the mark: a new one is given all rows again. */
async function publishAgain(): Promise<void> {
  await Promise.all(publishers.splice(0).map((publisher) => publisher.stop()));
  await sql.query('UPDATE outbox SET published_at = NULL');
  startPublisher();
  await untilOutboxEmpty(sql);
}

function draft(): NewSubscription {
  return {
    id: randomUUID(),
    fleetId,
    eventType: 'position',
    url: `https://receiver.example/${randomUUID()}`,
    description: null,
    metadata: {},
    headers: [],
    clientCertificate: null,
    payloadFormat: 'v1',
    deviceIds: ['device-1'],
    auth: {
      tokenUrl: 'https://id.example/token',
      clientId: 'c',
      sealedClientSecret: 's',
      scope: null,
      audience: null,
      tokenAuthMethod: 'client_secret_basic',
    },
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
  await store.subscriptions.update(ref, () => ({ status: 'paused' }), 2_000);
  await store.subscriptions.rotateSecret(ref, { sealFor: () => 'new', oldSignsUntil: 9_000, nowMs: 3_000 });
  await store.subscriptions.delete(ref, 4_000);
  return given.id;
}

async function newReplay(nowMs: number): Promise<{ replayId: string; subscriptionId: string }> {
  const given = draft();
  await store.subscriptions.create([given], nowMs);
  const asked = {
    startDate: 1,
    endDate: 2,
    status: null,
    statusCode: null,
    eventType: null,
    deviceId: null,
    eventId: null,
    ratePerSecond: 9,
  };
  const made = await store.replays.create({ fleetId, id: given.id }, { replayId: randomUUID(), ...asked }, nowMs);
  if (made.type !== 'created') throw new Error(made.type);
  return made.stored.replay;
}

function placeOf({ replayId, subscriptionId }: { replayId: string; subscriptionId: string }): string {
  return `${String(partitionForKey(Buffer.from(subscriptionId), PARTITIONS))} ${replayId}`;
}

async function sendTest(id: string): Promise<WebhookDelivery> {
  const nowMs = Date.now();
  const make = (subscription: Parameters<typeof testDelivery>[0]) =>
    testDelivery(subscription, { requestId: randomUUID(), nowMs });
  const result = await store.subscriptions.sendTest({ fleetId, id }, make, nowMs);
  if (result.type !== 'queued') throw new Error(result.type);
  return result.delivery;
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
    expect(await topicContents(SETTINGS)).toEqual([{ partition: 0, key: fleetId, value: fleet }]);
    const subscriptions = made.type === 'created' ? made.subscriptions : [];
    expect(await topicContents(SUBSCRIPTIONS)).toEqual([{ partition: 0, key: given.id, value: subscriptions[0] }]);
  });

  it('hears of every change without polling, from any process', async () => {
    await store.fleets.create({ fleetId, payloadFormat: 'v1', nowMs: 1 });
    startPublisher({ pollMs: 60_000 });
    await untilOutboxEmpty(sql);
    await store.subscriptions.create([draft()], 1);
    await untilOutboxEmpty(sql);
    expect(await topicContents(SUBSCRIPTIONS)).toHaveLength(1);
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
    startPublisher();
    const [deleted, kept] = [await changeOften(), draft()];
    await store.subscriptions.create([kept], 1);
    await untilOutboxEmpty(sql);
    await store.subscriptions.update({ fleetId, id: kept.id }, () => ({ status: 'paused' }), 2);
    await publishAgain();

    expect(await versionsOf(deleted)).toEqual([1, 2, 3, null]);
    expect(await versionsOf(kept.id)).toEqual([1, 2]);
    expect(await topicContents(SETTINGS)).toHaveLength(1);
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

  it('puts replays into the partition of their subscription, their deletion too, and none twice', async () => {
    await store.fleets.create({ fleetId, payloadFormat: 'v1', nowMs: 1 });
    const made = [await newReplay(1_000), await newReplay(1_000), await newReplay(1_000)];
    for (const { replayId, subscriptionId } of made)
      await store.replays.cancel({ fleetId, id: subscriptionId }, replayId, 2_000);
    const expected = (versions: (number | null)[]) =>
      new Set(made.flatMap((of) => versions.map((version) => `${placeOf(of)} ${String(version)}`)));
    const published = async () => {
      const ours = (await topicContents(REPLAYS)).filter(({ key }) => made.some(({ replayId }) => replayId === key));
      return ours.map((one) => `${String(one.partition)} ${one.key} ${String(versionIn(one))}`);
    };

    await publishAgain();
    await publishAgain();
    expect(await published()).toHaveLength(6);
    expect(new Set(await published())).toEqual(expected([1, 2]));

    await newReplay(40 * 86_400_000);
    await publishAgain();
    expect(await published()).toHaveLength(9);
    expect(new Set(await published())).toEqual(expected([1, 2, null]));
  });

  it('puts test events into the partition of their subscription, in order, and none twice', async () => {
    await store.fleets.create({ fleetId, payloadFormat: 'v1', nowMs: 1 });
    const given = draft();
    await store.subscriptions.create([given], 1);
    const sent = [await sendTest(given.id), await sendTest(given.id)];
    await publishAgain();
    sent.push(await sendTest(given.id));
    await publishAgain();
    const partition = partitionForKey(Buffer.from(given.id), PARTITIONS);
    expect(await topicContents(DELIVERIES)).toEqual(sent.map((value) => ({ partition, key: given.id, value })));
  });
});
