import { describe, expect, it } from '@jest/globals';
import { useTestFleet } from '../testing/test-fleet.js';

const FLEET = '/public/v1/fleet';

const suite = useTestFleet();
const { send } = suite;

async function published() {
  const rows = await suite.sql.query<{ value: object }>(
    "SELECT value FROM outbox WHERE kind = 'fleet-settings' AND key = $1 ORDER BY id",
    [suite.fleetId],
  );
  return rows.rows.map(({ value }) => value);
}

describe('GET /public/v1/fleet', () => {
  it('shows the fleet of the key', async () => {
    const answer = await send('GET', FLEET);
    const at = '2026-03-20T12:00:00.000Z';
    expect(answer.body).toEqual({
      id: suite.fleetId,
      payloadFormat: 'v1',
      routes: false,
      version: 1,
      createdAt: at,
      updatedAt: at,
    });
    expect(answer.headers.get('etag')).toBe('"1"');
  });

  it('is 304 for who has this version, and 200 for who has another', async () => {
    // Without this, fetch asks for a fresh answer by itself.
    const conditional = { 'cache-control': 'max-age=0' };
    const same = await send('GET', FLEET, undefined, { ...conditional, 'if-none-match': '"1"' });
    expect([same.status, same.body, same.headers.get('etag')]).toEqual([304, '', '"1"']);
    expect((await send('GET', FLEET, undefined, { ...conditional, 'if-none-match': '"2"' })).status).toBe(200);
  });
});

describe('PATCH /public/v1/fleet', () => {
  it('changes the given fields and waits until the change is published', async () => {
    suite.nowMs += 1_000;
    const answer = await send('PATCH', FLEET, { payloadFormat: 'legacy-v1', name: 'Tour 7' });
    expect(answer.body).toMatchObject({ name: 'Tour 7', payloadFormat: 'legacy-v1', version: 2 });
    expect(answer.headers.get('etag')).toBe('"2"');
    expect((await published()).at(-1)).toEqual(await suite.store.fleets.find(suite.fleetId));
    expect(await published()).toHaveLength(2);
    expect(suite.waitedFor).toEqual([[expect.any(String)]]);

    const nameless = await send('PATCH', FLEET, { name: null });
    expect(nameless.body).not.toHaveProperty('name');
    expect(nameless.body).toMatchObject({ payloadFormat: 'legacy-v1', version: 3 });
  });

  it('makes no new version when nothing changes', async () => {
    expect((await send('PATCH', FLEET, { payloadFormat: 'v1' })).headers.get('etag')).toBe('"1"');
    expect(await published()).toHaveLength(1);
  });

  it('decides the format of later subscriptions only (R-14)', async () => {
    const path = '/public/v1/webhook-subscriptions';
    const make = async (eventType: string) =>
      ((await send('POST', path, { eventType, url: 'https://a.example' })).body as { data: object[] }).data[0];
    expect(await make('position')).toMatchObject({ payloadFormat: 'v1' });
    await send('PATCH', FLEET, { payloadFormat: 'legacy-v1' });
    expect(await make('ignition_on')).toMatchObject({ payloadFormat: 'legacy-v1' });
    const { data } = (await send('GET', path)).body as { data: { payloadFormat: string }[] };
    expect(data.map(({ payloadFormat }) => payloadFormat).sort()).toEqual(['legacy-v1', 'v1']);
  });

  it('switches routes and stops on and off (R-9), and publishes each', async () => {
    const on = await send('PATCH', FLEET, { routes: true }, { 'if-match': '"1"' });
    expect([on.status, on.headers.get('etag')]).toEqual([200, '"2"']);
    expect(on.body).toMatchObject({ routes: true, version: 2 });
    expect((await send('PATCH', FLEET, { routes: true })).headers.get('etag')).toBe('"2"');
    expect((await send('PATCH', FLEET, { routes: false })).body).toMatchObject({ routes: false, version: 3 });
    expect(await published()).toMatchObject([{ routes: false }, { routes: true }, { routes: false }]);
    expect(suite.waitedFor).toHaveLength(2);
  });

  it('is not needed for routes: a subscription to them switches them on and is answered once both are published', async () => {
    const path = '/public/v1/webhook-subscriptions';
    const json = { eventTypes: ['position', 'stop_started'], url: 'https://a.example' };
    const made = await send('POST', path, json);
    expect(made.status).toBe(201);
    // The settings, and two subscriptions behind them.
    expect(suite.waitedFor).toEqual([[expect.any(String), expect.any(String), expect.any(String)]]);
    const ids = (suite.waitedFor[0] ?? []).map(Number);
    expect(ids).toEqual(ids.toSorted((a, b) => a - b));
    const { rows } = await suite.sql.query<{ kind: string }>('SELECT kind FROM outbox WHERE id = ANY($1) ORDER BY id', [
      ids,
    ]);
    const kinds = ['fleet-settings', 'webhook-subscription', 'webhook-subscription'];
    expect(rows.map(({ kind }) => kind)).toEqual(kinds);
    const fleet = await send('GET', FLEET);
    expect([fleet.headers.get('etag'), fleet.body]).toEqual(['"2"', expect.objectContaining({ routes: true })]);

    // A caller with the earlier ETag learns that the fleet has changed.
    expect((await send('PATCH', FLEET, { routes: false }, { 'if-match': '"1"' })).status).toBe(412);
    await send('PATCH', FLEET, { routes: false }, { 'if-match': '"2"' });
    const { data } = (await send('GET', path)).body as { data: { eventType: string; status: string }[] };
    expect(data.map(({ eventType, status }) => `${eventType} ${status}`).sort()).toEqual([
      'position active',
      'stop_started active',
    ]);
    await send('POST', path, { eventType: 'route_started', url: 'https://a.example' });
    expect((await send('GET', FLEET)).body).toMatchObject({ routes: true, version: 4 });
  });

  it.each([['yes'], [null], [1]])('names the field when routes is %j', async (routes) => {
    const answer = await send('PATCH', FLEET, { routes });
    const details = [{ field: 'routes', message: 'must be true or false' }];
    expect([answer.status, answer.body]).toEqual([400, { error: expect.objectContaining({ details }) }]);
  });

  it('is refused when another request has changed it since', async () => {
    await send('PATCH', FLEET, { name: 'Theirs' }, { 'if-match': '"1"' });
    const answer = await send('PATCH', FLEET, { name: 'Ours' }, { 'if-match': '"1"' });
    expect([answer.status, answer.headers.get('etag')]).toEqual([412, '"2"']);
    expect(await suite.store.fleets.find(suite.fleetId)).toMatchObject({ name: 'Theirs' });
  });

  it.each([[{}], [{ payloadFormat: 'v3' }], [{ name: '' }], [{ id: 'other' }]])('refuses %j', async (body) => {
    expect((await send('PATCH', FLEET, body)).status).toBe(400);
  });

  it.each([
    ['GET', 'fleet:write'],
    ['PATCH', 'fleet:read'],
  ])('needs the scope: %s', async (method, scope) => {
    const json = method === 'PATCH' ? { name: 'x' } : undefined;
    expect(
      (await suite.api.request(FLEET, { method, json, key: suite.api.addKey(suite.fleetId, [scope]) })).status,
    ).toBe(403);
  });
});
