import { randomBytes, randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type pg from 'pg';
import { topics, type WebhookDelivery } from '@waypost/contracts';
import { testDelivery } from '@waypost/domain';
import type { ManagementStore } from '@waypost/management-store';
import { partitionForKey, silentLogger } from '@waypost/streams';
import { untilOutboxEmpty } from '../../../../test/support/test-database.js';
import { openTestStore, type TestStore } from '../../../../test/support/test-store.js';
import { openTestStack } from '../testing/test-stack.js';
import { createOutbox } from './create-outbox.js';
import type { OutboxPublisher } from './outbox-publisher.js';

const fleetId = `fleet-${randomBytes(4).toString('hex')}`;
const TOPIC = topics.webhookDeliveries.name;

let stack: Awaited<ReturnType<typeof openTestStack>>;
let database: TestStore;
let store: ManagementStore;
let sql: pg.Client;
const publishers: OutboxPublisher[] = [];

beforeAll(async () => {
  stack = await openTestStack();
  database = await openTestStore();
  ({ store, sql } = database);
  await store.fleets.create({ fleetId, payloadFormat: 'v1', nowMs: Date.now() });
});
afterEach(() => Promise.all(publishers.splice(0).map((publisher) => publisher.stop())));
afterAll(async () => {
  await database.close();
  await stack.close();
});

function startPublisher(): OutboxPublisher {
  const publisher = createOutbox({
    databaseUrl: database.databaseUrl,
    codecs: stack.codecs,
    backend: stack.backend,
    logger: silentLogger,
    now: Date.now,
  });
  publishers.push(publisher);
  publisher.start();
  return publisher;
}

async function subscribe(): Promise<string> {
  const id = randomUUID();
  const url = `https://receiver.example/${id}`;
  const sending = { rateLimitPerSecond: null, onOutage: 'fail', strictOrder: false };
  const draft = { id, fleetId, eventType: 'position', url, payloadFormat: 'v1', deviceIds: null, auth: null };
  await store.subscriptions.create([{ ...draft, ...sending, secrets: [] }], Date.now());
  return id;
}

async function sendTest(id: string): Promise<WebhookDelivery> {
  const nowMs = Date.now();
  const make = (subscription: Parameters<typeof testDelivery>[0]) =>
    testDelivery(subscription, { requestId: randomUUID(), nowMs });
  const result = await store.subscriptions.sendTest({ fleetId, id }, make, nowMs);
  if (result.type !== 'queued') throw new Error(result.type);
  return result.delivery;
}

async function deliveriesTo(id: string): Promise<{ partition: number; delivery: unknown }[]> {
  const { webhookDeliveries: codec } = stack.codecs;
  const records = await stack.recordsOf(TOPIC, id);
  await codec.prepare();
  await codec.resolve(records.map(({ value }) => value?.readUInt32BE(1) ?? 0));
  return records.map(({ partition, value }) => {
    const decoded = value === null ? null : codec.decode(value);
    return { partition, delivery: decoded?.type === 'decoded' ? decoded.value : decoded };
  });
}

describe('test events on their way to Kafka', () => {
  it('come to the partition of their subscription, as the fan-out would put them, and in order', async () => {
    const ids = await Promise.all(Array.from({ length: 8 }, subscribe));
    const sent = new Map<string, WebhookDelivery[]>();
    for (const id of ids) sent.set(id, [await sendTest(id), await sendTest(id)]);
    startPublisher();
    await untilOutboxEmpty(sql);
    for (const id of ids) {
      const partition = partitionForKey(Buffer.from(id), stack.partitions);
      expect(await deliveriesTo(id)).toEqual(sent.get(id)?.map((delivery) => ({ partition, delivery })));
    }
  });

  it('come once though the process died between the commit and the mark', async () => {
    const id = await subscribe();
    const first = await sendTest(id);
    await startPublisher().stop();
    startPublisher();
    await untilOutboxEmpty(sql);
    await Promise.all(publishers.splice(0).map((publisher) => publisher.stop()));
    await sql.query('UPDATE outbox SET published_at = NULL');
    const second = await sendTest(id);

    startPublisher();
    await untilOutboxEmpty(sql);
    const found = await deliveriesTo(id);
    expect(found.map(({ delivery }) => delivery)).toEqual([first, second]);
  });
});
