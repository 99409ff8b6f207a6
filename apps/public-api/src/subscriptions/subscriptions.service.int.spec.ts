import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type pg from 'pg';
import type { WebhookDelivery, WebhookSubscription } from '@waypost/domain';
import type { ManagementStore } from '@waypost/management-store';
import { openTestStore, type TestStore } from '../../../../test/support/test-store.js';
import { startTestApi, type TestApi } from '../testing/test-api.js';

const PATH = '/public/v1/webhook-subscriptions';
const NOW = Date.UTC(2026, 2, 20, 12);

let database: TestStore;
let store: ManagementStore;
let sql: pg.Client;
let api: TestApi;
let fleetId: string;
let key: string;
let id: string;

beforeAll(async () => {
  database = await openTestStore();
  ({ store, sql } = database);
  api = await startTestApi({ store, now: () => NOW });
});
afterAll(async () => {
  await api.close();
  await database.close();
});
beforeEach(async () => {
  fleetId = `fleet-${randomBytes(4).toString('hex')}`;
  await store.fleets.create({ fleetId, payloadFormat: 'v1', nowMs: NOW });
  key = api.addKey(fleetId);
  const json = { eventType: 'position', url: 'https://receiver.example/hook', deviceIds: ['van-1'] };
  const made = await api.request(PATH, { method: 'POST', key, json });
  id = (made.body as { data: { id: string }[] }).data[0]?.id ?? '';
});

function send(method: string, path: string, json?: unknown) {
  return api.request(path, { method, key, json });
}

async function stored(): Promise<WebhookSubscription> {
  const found = await store.subscriptions.get({ fleetId, id });
  if (found === null) throw new Error('not stored');
  return found;
}

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

describe('the ETag of a subscription', () => {
  const ifMatch = (method: string, path: string, tag: string, json?: unknown) =>
    api.request(path, { method, key, json, headers: { 'if-match': tag } });

  it('is that of its version, and changes with it', async () => {
    const tags = [];
    for (const [method, path, body] of [
      ['GET', `${PATH}/${id}`, undefined],
      ['PATCH', `${PATH}/${id}`, { status: 'paused' }],
      ['PATCH', `${PATH}/${id}`, { status: 'paused' }],
      ['POST', `${PATH}/${id}/rotate-secret`, undefined],
      ['GET', `${PATH}/${id}`, undefined],
    ] as const) {
      tags.push((await send(method, path, body)).headers.get('etag'));
    }
    expect(tags).toEqual(['"1"', '"2"', '"2"', '"3"', '"3"']);
  });

  it.each<[string, string, object | undefined]>([
    ['PATCH', '', { status: 'active' }],
    ['DELETE', '', undefined],
    ['POST', '/rotate-secret', undefined],
  ])('of an earlier version lets nothing be done: %s %s', async (method, suffix, json) => {
    await send('PATCH', `${PATH}/${id}`, { status: 'paused' });
    const before = await stored();
    const answer = await ifMatch(method, `${PATH}/${id}${suffix}`, '"1"', json);
    expect([answer.status, answer.headers.get('etag')]).toEqual([412, '"2"']);
    expect(await stored()).toEqual(before);
    expect((await ifMatch(method, `${PATH}/${id}${suffix}`, '"2"', json)).status).toBeLessThan(300);
  });

  it('lets one of two who read the same version change it', async () => {
    const answers = await Promise.all(
      [1, 2, 3, 4].map((limit) => ifMatch('PATCH', `${PATH}/${id}`, '"1"', { rateLimitPerSecond: limit })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 412, 412, 412]);
    expect((await stored()).version).toBe(2);
  });

  it('cannot be anything', async () => {
    const answer = await ifMatch('DELETE', `${PATH}/${id}`, '1');
    expect([answer.status, answer.body]).toMatchObject([400, { error: { code: 'invalid_header' } }]);
    expect((await ifMatch('DELETE', `${PATH}/00000000-0000-4000-8000-000000000000`, '*')).status).toBe(404);
  });
});
