import { describe, expect, it } from '@jest/globals';
import { DAY_MS } from '@waypost/domain';
import type { TestAnswer } from '../testing/test-api.js';
import { useTestFleet } from '../testing/test-fleet.js';

const GEOFENCES = '/public/v1/geofences';
const FLEET = '/public/v1/fleet';
/** What a version counts beside its positions. */
const VERSION = 30;
const CIRCLE = { type: 'circle', center: { latitude: 52, longitude: 4.9 }, radiusInMeters: 300 };

const suite = useTestFleet({ fleetLimits: { writtenPositions: 500 } });
const { send } = suite;

/** A polygon around a place. */
function polygonOf(positions: number): object {
  const ring = Array.from({ length: positions }, (_, n) => {
    const angle = (2 * Math.PI * n) / positions;
    return [4.9 + Math.cos(angle) / 10, 52 + Math.sin(angle) / 10];
  });
  return { type: 'polygon', coordinates: [ring] };
}

const create = (shape: object = CIRCLE): Promise<TestAnswer> => send('POST', GEOFENCES, { name: 'Depot', shape });

async function createPath(shape?: object): Promise<string> {
  const answer = await create(shape);
  expect(answer.status).toBe(201);
  return `${GEOFENCES}/${(answer.body as { id: string }).id}`;
}

/** Fills what is left of the day up to this number. */
function leave(positions: number): Promise<unknown> {
  return suite.sql.query('UPDATE fleets SET written_day = $2, written_positions = $3 WHERE fleet_id = $1', [
    suite.fleetId,
    Math.floor(suite.nowMs / DAY_MS),
    500 - positions,
  ]);
}

async function written(): Promise<number | undefined> {
  const text = 'SELECT written_positions AS positions FROM fleets WHERE fleet_id = $1';
  return (await suite.sql.query<{ positions: number }>(text, [suite.fleetId])).rows[0]?.positions;
}

async function changesInOutbox(): Promise<number | undefined> {
  const text = `SELECT count(*)::int AS count FROM outbox WHERE key = $1 AND kind = 'fleet-settings'
                   OR starts_with(key, $1) AND kind = 'geofence'`;
  return (await suite.sql.query<{ count: number }>(text, [suite.fleetId])).rows[0]?.count;
}

describe('the positions that a fleet may write in a day (R-8, R-37)', () => {
  it('let no concurrent requests write more than is left, and the refusal says what there is', async () => {
    const before = await changesInOutbox();
    // Each has its connection then: those that queue for one would not be concurrent.
    await Promise.all(Array.from({ length: 8 }, () => suite.store.fleets.count()));
    const answers = await Promise.all(Array.from({ length: 8 }, () => create(polygonOf(70))));
    expect(answers.map(({ status }) => status).sort()).toEqual([...Array(5).fill(201), ...Array(3).fill(409)]);
    expect(answers.find(({ status }) => status === 409)?.body).toEqual({
      error: {
        code: 'too_many_changes_per_day',
        message:
          'A fleet may have 500 positions of geofences written in a day (UTC): it has 500, and this would add 100.',
        details: [{ limit: 500, current: 500, message: 'would add 100' }],
        requestId: expect.any(String) as unknown,
      },
    });
    expect([await written(), await changesInOutbox()]).toEqual([500, (before ?? 0) + 5]);
  });

  it.each([
    ['PATCH', 200],
    ['DELETE', 204],
  ])('let no concurrent changes of several geofences write more than is left: %s', async (method, done) => {
    const paths = await Promise.all(Array.from({ length: 5 }, () => createPath()));
    await leave(3 * VERSION);
    const json = method === 'PATCH' ? { name: 'Yard' } : undefined;
    const answers = await Promise.all(paths.map((path) => send(method, path, json)));
    expect(answers.map(({ status }) => status).sort()).toEqual([done, done, done, 409, 409]);
    expect(await written()).toBe(500);
  });

  it('are those of each version of a geofence, its deletion and each version of the fleet, each with 30 more', async () => {
    const path = await createPath(polygonOf(20));
    expect(await written()).toBe(VERSION + 20);
    await send('PATCH', path, { name: 'Yard' });
    expect(await written()).toBe(2 * (VERSION + 20));
    await send('PATCH', path, { shape: CIRCLE });
    expect(await written()).toBe(3 * VERSION + 40);
    await send('DELETE', path);
    expect(await written()).toBe(4 * VERSION + 40);
    await send('PATCH', FLEET, { routes: true });
    expect(await written()).toBe(5 * VERSION + 40);
  });

  it('are not counted for what is refused or changes nothing', async () => {
    const path = await createPath();
    await send('PATCH', path, { name: 'Depot' });
    await send('PATCH', path, { name: 'Yard' }, { 'if-match': '"7"' });
    await send('PATCH', FLEET, { routes: false });
    expect(await written()).toBe(VERSION);
  });

  it('refuse each kind of change beyond them, which then has no effect', async () => {
    const path = await createPath();
    const before = await changesInOutbox();
    await leave(VERSION - 1);
    const refused = [
      await create(),
      await send('PATCH', path, { name: 'Yard' }),
      await send('DELETE', path),
      await send('PATCH', FLEET, { name: 'Vans' }),
    ];
    for (const { status, body } of refused)
      expect([status, body]).toMatchObject([409, { error: { code: 'too_many_changes_per_day' } }]);
    expect((await send('GET', path)).body).toMatchObject({ name: 'Depot', version: 1 });
    expect((await send('GET', FLEET)).body).toMatchObject({ version: 1 });
    expect([await written(), await changesInOutbox()]).toEqual([500 - VERSION + 1, before]);
    // Nothing is written by it.
    expect((await send('PATCH', path, { name: 'Depot' })).status).toBe(200);
  });

  it('start again at zero on the next day, but not for a clock that is still on the previous day', async () => {
    await leave(0);
    expect((await create()).status).toBe(409);
    suite.nowMs += DAY_MS;
    expect((await create()).status).toBe(201);
    suite.nowMs -= DAY_MS;
    expect((await create()).status).toBe(201);
    expect(await written()).toBe(2 * VERSION);
  });

  it('start again at zero after a write by a clock that was far ahead, whose day would be long in coming', async () => {
    suite.nowMs += 400 * DAY_MS;
    await leave(0);
    expect((await create()).status).toBe(409);
    suite.nowMs -= 400 * DAY_MS;
    expect((await create()).status).toBe(201);
  });

  it('do not count for another fleet', async () => {
    await leave(0);
    const fleetId = `${suite.fleetId}-other`;
    await suite.store.fleets.create({ fleetId, payloadFormat: 'v1', nowMs: suite.nowMs });
    const json = { name: 'Depot', shape: CIRCLE };
    const key = suite.api.addKey(fleetId);
    expect((await suite.api.request(GEOFENCES, { method: 'POST', key, json })).status).toBe(201);
  });
});
