import { beforeEach, describe, expect, it } from '@jest/globals';
import type { WebhookDelivery, WebhookSubscription } from '@waypost/domain';
import { openPortalSession } from '../testing/portal-sessions.js';
import { refusalOf } from '../testing/test-api.js';
import { useTestFleet } from '../testing/test-fleet.js';

const PATH = '/public/v1/webhook-subscriptions';
const NOBODYS_ID = '00000000-0000-4000-8000-000000000000';

let id: string;
const suite = useTestFleet({ fleetLimits: { subscriptions: 5, deviceIds: 10 } });
const { send } = suite;
beforeEach(async () => {
  const json = { eventType: 'position', url: 'https://receiver.example/hook', deviceIds: ['van-1'] };
  id = ((await send('POST', PATH, json)).body as { data: { id: string }[] }).data[0]?.id ?? '';
});

async function stored(): Promise<WebhookSubscription> {
  const found = await suite.store.subscriptions.get({ fleetId: suite.fleetId, id });
  if (found === null) throw new Error('not stored');
  return found;
}

function sendTest(as = suite.key, of = id) {
  return suite.api.request(`${PATH}/${of}/test`, { method: 'POST', key: as });
}

async function waitingDeliveries(): Promise<WebhookDelivery[]> {
  const found = await suite.sql.query<{ value: WebhookDelivery }>(
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
      fleetId: suite.fleetId,
      eventType: 'test',
      series: 0,
      format: 'v1',
    });
    expect(JSON.parse(delivery?.body ?? '')).toEqual({
      eventId,
      eventTime: '2026-03-20T12:00:00.000Z',
      eventType: 'test',
      eventData: { deviceId: 'test-device', fleetId: suite.fleetId },
    });
  });

  it('makes another event each time', async () => {
    const answers = await Promise.all([sendTest(), sendTest(), sendTest()]);
    const ids = answers.map((answer) => (answer.body as { eventId: string }).eventId);
    expect(new Set(ids).size).toBe(3);
    expect((await waitingDeliveries()).map((delivery) => delivery.eventId).sort()).toEqual(ids.sort());
  });

  it.each(['paused', 'disabled'])('answers 409 while the subscription is %s', async (status) => {
    await suite.sql.query('UPDATE webhook_subscriptions SET status = $2 WHERE id = $1', [id, status]);
    const answer = await sendTest();
    expect(answer.status).toBe(409);
    expect(answer.body).toEqual({
      error: {
        code: 'subscription_not_active',
        message: `The subscription is ${status}: set its status to active first.`,
        requestId: expect.any(String) as unknown,
      },
    });
    expect(await waitingDeliveries()).toEqual([]);
  });

  it("answers 404 for another fleet's, and for what there is not", async () => {
    expect((await sendTest(suite.api.addKey('other'))).status).toBe(404);
    expect((await sendTest(suite.key, '00000000-0000-4000-8000-000000000000')).status).toBe(404);
    expect((await sendTest(suite.key, 'nonsense')).status).toBe(404);
  });

  it('requires the scope to write subscriptions, and accepts no parameters', async () => {
    expect((await sendTest(suite.api.addKey(suite.fleetId, ['subscriptions:read', 'events:read']))).status).toBe(403);
    expect((await suite.api.request(`${PATH}/${id}/test?again=1`, { method: 'POST', key: suite.key })).status).toBe(
      400,
    );
    expect(await waitingDeliveries()).toEqual([]);
  });
});

describe('the ETag of a subscription', () => {
  const ifMatch = (method: string, path: string, tag: string, json?: unknown) =>
    suite.api.request(path, { method, key: suite.key, json, headers: { 'if-match': tag } });

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

  it('is refused in any other form in If-Match', async () => {
    const answer = await ifMatch('DELETE', `${PATH}/${id}`, '1');
    expect([answer.status, answer.body]).toMatchObject([400, { error: { code: 'invalid_header' } }]);
    expect((await ifMatch('DELETE', `${PATH}/00000000-0000-4000-8000-000000000000`, '*')).status).toBe(404);
  });
});

describe('the limits of a fleet (R-16)', () => {
  const create = (n: number, more: object = {}) =>
    send('POST', PATH, { eventType: 'position', url: `https://receiver.example/${String(n)}`, ...more });
  const ids = (count: number) => Array.from({ length: count }, (_, n) => `van-${String(n)}`);

  it('let no concurrent requests create more subscriptions than are left', async () => {
    const answers = await Promise.all(Array.from({ length: 12 }, (_, n) => create(n)));
    expect(answers.map(({ status }) => status).sort()).toEqual([...Array(4).fill(201), ...Array(8).fill(409)]);
    expect(answers.find(({ status }) => status === 409)?.body).toEqual({
      error: {
        code: 'too_many_subscriptions',
        message: 'A fleet may have 5 subscriptions: it has 5, and this would add 1.',
        details: [{ field: 'eventTypes', limit: 5, current: 5, message: 'would add 1' }],
        requestId: expect.any(String) as unknown,
      },
    });
    await send('DELETE', `${PATH}/${id}`);
    expect((await create(99)).status).toBe(201);
  });

  it('count each event type of a request, and create all or none', async () => {
    await Promise.all([1, 2].map((n) => create(n)));
    const three = { eventType: undefined, eventTypes: ['position', 'ignition_on', 'ignition_off'] };
    expect((await create(3, three)).body).toMatchObject({ error: { details: [{ limit: 5, current: 3 }] } });
    expect((await create(3)).status).toBe(201);
  });

  it('let no concurrent requests name more devices than are left', async () => {
    const answers = await Promise.all([1, 2, 3, 4].map((n) => create(n, { deviceIds: ids(4) })));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 201, 409, 409]);
    expect(answers.find(({ status }) => status === 409)?.body).toMatchObject({
      error: { code: 'too_many_device_ids', details: [{ field: 'deviceIds', limit: 10, current: 9 }] },
    });
    expect((await create(5)).status).toBe(201);
  });

  it('let no concurrent changes name more devices than are left', async () => {
    const made = await Promise.all([1, 2, 3].map((n) => create(n, { deviceIds: ids(2) })));
    const paths = made.map(({ body }) => `${PATH}/${(body as { data: { id: string }[] }).data[0]?.id ?? ''}`);
    const answers = await Promise.all(paths.map((path) => send('PATCH', path, { deviceIds: ids(4) })));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409]);
    expect(answers.find(({ status }) => status === 409)?.body).toMatchObject({
      error: { code: 'too_many_device_ids', details: [{ limit: 10, current: 9 }] },
    });
  });

  it('do not tell a portal session with some subscriptions what the others have (R-42)', async () => {
    await create(1, { deviceIds: ids(9) });
    await send('PATCH', `${PATH}/${id}`, { deviceIds: null });
    const { store, fleetId, nowMs } = suite;
    const { token } = await openPortalSession(store, { fleetId, nowMs, subscriptionIds: [id] });
    const json = { deviceIds: ids(2) };
    const answer = await suite.api.request(`${PATH}/${id}`, { method: 'PATCH', key: token, json });
    expect([answer.status, answer.body]).toEqual([
      409,
      {
        error: {
          code: 'too_many_device_ids',
          message: 'This would exceed the limit of the fleet for device ids in all its subscriptions.',
          details: [{ field: 'deviceIds', message: 'would add 2' }],
          requestId: expect.any(String) as unknown,
        },
      },
    ]);
  });

  it('never refuse a change that adds nothing', async () => {
    await suite.sql.query('UPDATE webhook_subscriptions SET device_ids = $2 WHERE id = $1', [id, ids(20)]);
    expect((await send('PATCH', `${PATH}/${id}`, { deviceIds: ids(19) })).status).toBe(200);
    expect((await send('PATCH', `${PATH}/${id}`, { status: 'paused' })).status).toBe(200);
    expect((await send('PATCH', `${PATH}/${id}`, { deviceIds: ids(20) })).status).toBe(409);
  });
});

describe("another fleet's subscription", () => {
  it.each([
    ['GET', '', undefined],
    ['PATCH', '', { status: 'paused' }],
    ['DELETE', '', undefined],
    ['POST', '/rotate-secret', undefined],
  ])('is not found: %s %s', async (method, suffix, json) => {
    const foreign = await suite.api.request(`${PATH}/${id}${suffix}`, {
      method,
      json,
      key: suite.api.addKey(`${suite.fleetId}-other`),
    });
    const missing = await send(method, `${PATH}/${NOBODYS_ID}${suffix}`, json);
    expect(foreign.status).toBe(404);
    expect(refusalOf(foreign)).toEqual(refusalOf(missing));
    expect((await stored()).version).toBe(1);
  });
});
