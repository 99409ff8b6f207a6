import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { WebhookDelivery } from '@waypost/domain';
import { type ManagementStore, openManagementStore } from '@waypost/management-store';
import pg from 'pg';
import { startTestApi, type TestApi } from '../testing/test-api.js';
import { createTestDatabase, type TestDatabase } from '../../../../test/support/test-database.js';

const PATH = '/public/v1/webhook-subscriptions';
const NOW = Date.UTC(2026, 2, 20, 12);

let database: TestDatabase;
let store: ManagementStore;
let sql: pg.Client;
let api: TestApi;
let fleetId: string;
let key: string;
let id: string;

beforeAll(async () => {
  database = await createTestDatabase(process.env['WAYPOST_TEST_DATABASE_URL'] ?? '');
  store = await openManagementStore(database.url);
  sql = new pg.Client({ connectionString: database.url });
  await sql.connect();
  api = await startTestApi({ store, now: () => NOW });
});
afterAll(async () => {
  await api.close();
  await sql.end();
  await store.close();
  await database.drop();
});
beforeEach(async () => {
  fleetId = `fleet-${randomBytes(4).toString('hex')}`;
  await store.fleets.create({ fleetId, payloadFormat: 'v1', nowMs: NOW });
  key = api.addKey(fleetId);
  const json = { eventType: 'position', url: 'https://receiver.example/hook', deviceIds: ['van-1'] };
  const made = await api.request(PATH, { method: 'POST', key, json });
  id = (made.body as { data: { id: string }[] }).data[0]?.id ?? '';
});

function sendTest(as = key, of = id) {
  return api.request(`${PATH}/${of}/test`, { method: 'POST', key: as });
}

async function waitingDeliveries(): Promise<WebhookDelivery[]> {
  const found = await sql.query<{ value: WebhookDelivery }>(
    "SELECT value FROM outbox WHERE kind = 'webhook-delivery' AND key = $1 AND published_at IS NULL ORDER BY id",
    [id],
  );
  return found.rows.map((row) => row.value);
}

describe('POST /public/v1/webhook-subscriptions/{id}/test', () => {
  it('answers with the id of an event that is durable by then', async () => {
    const answer = await sendTest();
    expect(answer.status).toBe(202);
    const { eventId } = answer.body as { eventId: string };
    expect(answer.body).toEqual({ eventId });

    const [delivery, ...more] = await waitingDeliveries();
    expect(more).toEqual([]);
    expect(delivery).toMatchObject({
      eventId,
      subscriptionId: id,
      fleetId,
      eventType: 'test',
      series: 0,
      format: 'v1',
    });
    expect(JSON.parse(delivery?.body ?? '')).toEqual({
      eventId,
      eventTime: '2026-03-20T12:00:00.000Z',
      eventType: 'test',
      eventData: { deviceId: 'test-device', fleetId },
    });
  });

  it('makes another event each time', async () => {
    const answers = await Promise.all([sendTest(), sendTest(), sendTest()]);
    const ids = answers.map((answer) => (answer.body as { eventId: string }).eventId);
    expect(new Set(ids).size).toBe(3);
    expect((await waitingDeliveries()).map((delivery) => delivery.eventId).sort()).toEqual(ids.sort());
  });

  it.each(['paused', 'disabled'])('answers 409 while the subscription is %s', async (status) => {
    await sql.query('UPDATE webhook_subscriptions SET status = $2 WHERE id = $1', [id, status]);
    const answer = await sendTest();
    expect(answer.status).toBe(409);
    expect(answer.body).toEqual({
      error: {
        code: 'subscription_not_active',
        message: `The subscription is ${status}: set its status to active first.`,
      },
    });
    expect(await waitingDeliveries()).toEqual([]);
  });

  it("answers 404 for another fleet's, and for what there is not", async () => {
    expect((await sendTest(api.addKey('other'))).status).toBe(404);
    expect((await sendTest(key, '00000000-0000-4000-8000-000000000000')).status).toBe(404);
    expect((await sendTest(key, 'nonsense')).status).toBe(404);
  });

  it('requires the scope to write subscriptions, and accepts no parameters', async () => {
    expect((await sendTest(api.addKey(fleetId, ['subscriptions:read', 'events:read']))).status).toBe(403);
    expect((await api.request(`${PATH}/${id}/test?again=1`, { method: 'POST', key })).status).toBe(400);
    expect(await waitingDeliveries()).toEqual([]);
  });
});
