import { describe, expect, it } from '@jest/globals';
import { geofenceKey, MAX_PAGE_BYTES } from '@waypost/domain';
import { untilWaitingForLocks } from '../../../../test/support/lock-waits.js';
import { refusalOf, type TestAnswer } from '../testing/test-api.js';
import { useTestFleet } from '../testing/test-fleet.js';

const PATH = '/public/v1/geofences';
const CIRCLE = { type: 'circle', center: { latitude: 52.5, longitude: 13.4 }, radiusInMeters: 250.5 };
const POLYGON = {
  type: 'polygon',
  coordinates: [
    [
      [178, -1],
      [-178, -1],
      [-178, 1],
      [178, 1],
      [178, -1],
    ],
    [
      [179, 0],
      [-179, 0],
      [180, 0.5],
    ],
  ],
};

/** As many positions as a polygon may have, in as many digits as coordinates have. */
const LARGE_RING = Array.from({ length: 1_000 }, (_, n) => {
  const angle = (2 * Math.PI * n) / 1_000;
  return { latitude: 52.5 + Math.sin(angle), longitude: 13.4 + Math.cos(angle) };
});

interface Page {
  readonly data: readonly { readonly id: string }[];
  readonly nextPageState: string | null;
}

const suite = useTestFleet();
const { send } = suite;

function idIn(answer: TestAnswer) {
  return (answer.body as { id: string }).id;
}
function fieldsOf(answer: TestAnswer) {
  return (answer.body as { error: { details: { field?: string }[] } }).error.details.map(({ field }) => field);
}

async function create(body: object = {}): Promise<string> {
  const answer = await send('POST', PATH, { name: 'Depot', shape: CIRCLE, ...body });
  if (answer.status !== 201) throw new Error(JSON.stringify(answer.body));
  return idIn(answer);
}

async function walk(limit: number): Promise<readonly Page[]> {
  const pages: Page[] = [];
  for (let state: string | null = ''; state !== null;) {
    const { body } = await send('GET', `${PATH}?limit=${String(limit)}${state === '' ? '' : `&pageState=${state}`}`);
    const page = body as Page;
    pages.push(page);
    state = page.nextPageState;
  }
  return pages;
}

function idsOf(pages: readonly Page[]): string[] {
  return pages.flatMap(({ data }) => data.map(({ id }) => id));
}

async function published(id: string): Promise<unknown[]> {
  const rows = await suite.sql.query<{ value: unknown }>(
    "SELECT value FROM outbox WHERE kind = 'geofence' AND key = $1 ORDER BY id",
    [geofenceKey({ fleetId: suite.fleetId, geofenceId: id })],
  );
  return rows.rows.map(({ value }) => value);
}

describe('POST /public/v1/geofences', () => {
  it.each([
    ['circle', CIRCLE],
    ['polygon', POLYGON],
  ])('makes a %s and shows it as it was given', async (_, shape) => {
    const answer = await send('POST', PATH, { name: 'Dépôt 7', shape });
    expect(answer.status).toBe(201);
    expect(answer.headers.get('etag')).toBe('"1"');
    expect(answer.headers.get('location')).toBe(`${PATH}/${(answer.body as { id: string }).id}`);
    const resource = {
      id: expect.any(String),
      fleetId: suite.fleetId,
      name: 'Dépôt 7',
      shape,
      version: 1,
      createdAt: '2026-03-20T12:00:00.000Z',
      updatedAt: '2026-03-20T12:00:00.000Z',
    };
    expect(answer.body).toEqual(resource);
    expect((await send('GET', `${PATH}/${idIn(answer)}`)).body).toEqual(answer.body);
  });

  it('publishes it as the schema has it, and waits until it has', async () => {
    const id = await create();
    const circle = { latitude: 52.5, longitude: 13.4, radiusInMeters: 250.5 };
    const times = { createdAt: suite.nowMs, updatedAt: suite.nowMs };
    const value = {
      geofenceId: id,
      fleetId: suite.fleetId,
      name: 'Depot',
      circle,
      polygon: null,
      version: 1,
      ...times,
    };
    expect(await published(id)).toEqual([value]);
    expect(suite.waitedFor).toEqual([[expect.any(String)]]);

    const polygon = await create({ shape: POLYGON });
    expect(await published(polygon)).toEqual([
      expect.objectContaining({
        circle: null,
        polygon: {
          rings: POLYGON.coordinates.map((ring) => ring.map(([longitude, latitude]) => ({ latitude, longitude }))),
        },
      }),
    ]);
  });

  it.each<[object, (string | undefined)[]]>([
    [{}, ['name', 'shape']],
    [{ name: '', shape: CIRCLE }, ['name']],
    [{ name: 'a\u001fb', shape: CIRCLE }, ['name']],
    [{ name: 'x'.repeat(129), shape: CIRCLE }, ['name']],
    [{ name: 'a', shape: CIRCLE, color: 'red' }, ['color']],
    [{ name: 'a', shape: { type: 'square' } }, ['shape.type']],
    [{ name: 'a', shape: { ...CIRCLE, radiusInMeters: 0.99 } }, ['shape.radiusInMeters']],
    [{ name: 'a', shape: { ...CIRCLE, radiusInMeters: 1_000_001 } }, ['shape.radiusInMeters']],
    [
      { name: 'a', shape: { ...CIRCLE, center: { latitude: 90.1, longitude: -181 } } },
      ['shape.center.latitude', 'shape.center.longitude'],
    ],
    [{ name: 'a', shape: { type: 'polygon', coordinates: [] } }, ['shape.coordinates']],
    [
      {
        name: 'a',
        shape: {
          type: 'polygon',
          coordinates: [
            [
              [0, 0],
              [1, 0],
            ],
          ],
        },
      },
      ['shape.coordinates.0'],
    ],
    [
      {
        name: 'a',
        shape: {
          type: 'polygon',
          coordinates: [
            [
              [0, 0],
              [1, 0],
              [1, 91],
            ],
          ],
        },
      },
      ['shape.coordinates.0.2.1'],
    ],
    [{ name: 'a', shape: { type: 'polygon', coordinates: [[[0, 0], [1, 0], [1]]] } }, ['shape.coordinates.0.2']],
    [
      {
        name: 'a',
        shape: {
          type: 'polygon',
          coordinates: [
            [
              [0, 0],
              [1, 0, 7],
              [1, 1],
            ],
          ],
        },
      },
      ['shape.coordinates.0.1'],
    ],
    [
      {
        name: 'a',
        shape: {
          type: 'polygon',
          coordinates: [
            [
              [0, 0],
              [2, 2],
              [2, 0],
              [0, 2],
            ],
          ],
        },
      },
      ['shape.coordinates.0.2'],
    ],
  ])('refuses %j, naming what is wrong', async (body, fields) => {
    const answer = await send('POST', PATH, body);
    expect([answer.status, fieldsOf(answer)]).toEqual([400, fields]);
  });
});

describe('GET /public/v1/geofences', () => {
  it('walks those of the fleet, oldest first', async () => {
    const made: string[] = [];
    for (let index = 0; index < 5; index++) {
      suite.nowMs += index % 2;
      made.push(await create());
    }
    const walked = idsOf(await walk(2));
    expect(walked.slice().sort()).toEqual(made.slice().sort());
    expect(new Set(walked).size).toBe(5);
  });

  it('ends a page early where its geofences have 4 MiB, and goes on from there (R-34a)', async () => {
    const { rows } = await suite.sql.query<{ id: string }>(
      `INSERT INTO geofences (geofence_id, fleet_id, name, polygon, version, created_at, updated_at)
       SELECT gen_random_uuid(), $1, 'large', $2, 1, to_timestamp(number), now() FROM generate_series(1, 200) AS number
       RETURNING geofence_id AS id`,
      [suite.fleetId, { rings: [LARGE_RING] }],
    );
    const pages = await walk(1_000);
    for (const page of pages) expect(Buffer.byteLength(JSON.stringify(page))).toBeLessThan(MAX_PAGE_BYTES);
    expect(pages.length).toBeLessThan(6);
    expect(idsOf(pages)).toEqual(rows.map(({ id }) => id));
  });

  it("refuses the page token of another resource's list", async () => {
    await create();
    await create();
    const { nextPageState } = (await send('GET', `${PATH}?limit=1`)).body as { nextPageState: string };
    const answer = await send('GET', `/public/v1/webhook-subscriptions?pageState=${nextPageState}`);
    expect(answer.body).toMatchObject({ error: { code: 'page_state_other_query' } });
  });
});

describe('PATCH and DELETE /public/v1/geofences/{id}', () => {
  it('changes the given fields, leaves the rest, and publishes each version in order', async () => {
    const id = await create();
    suite.nowMs += 1_000;
    const renamed = await send('PATCH', `${PATH}/${id}`, { name: 'Yard' });
    expect(renamed.body).toMatchObject({
      name: 'Yard',
      shape: CIRCLE,
      version: 2,
      updatedAt: new Date(suite.nowMs).toISOString(),
    });
    expect(renamed.headers.get('etag')).toBe('"2"');
    const reshaped = await send('PATCH', `${PATH}/${id.toUpperCase()}`, { shape: POLYGON });
    expect(reshaped.body).toMatchObject({ name: 'Yard', shape: POLYGON, version: 3 });
    expect((await send('DELETE', `${PATH}/${id}`)).status).toBe(204);
    expect((await send('GET', `${PATH}/${id}`)).status).toBe(404);
    const versions = (await published(id)).map((value) => (value as { version: number } | null)?.version ?? null);
    expect(versions).toEqual([1, 2, 3, null]);
    expect(suite.waitedFor).toHaveLength(4);
  });

  it('makes no new version when nothing changes', async () => {
    const id = await create({ shape: POLYGON });
    const answer = await send('PATCH', `${PATH}/${id}`, { name: 'Depot', shape: POLYGON });
    expect(answer.headers.get('etag')).toBe('"1"');
    expect(await published(id)).toHaveLength(1);
  });

  it('changes nothing when another request has changed it since', async () => {
    const id = await create();
    await send('PATCH', `${PATH}/${id}`, { name: 'Theirs' });
    for (const [method, body] of [
      ['PATCH', { name: 'Ours' }],
      ['DELETE', undefined],
    ] as const) {
      const answer = await send(method, `${PATH}/${id}`, body, { 'if-match': '"1"' });
      expect([answer.status, answer.headers.get('etag')]).toEqual([412, '"2"']);
      expect(answer.body).toMatchObject({ error: { code: 'precondition_failed' } });
    }
    expect((await send('GET', `${PATH}/${id}`)).body).toMatchObject({ name: 'Theirs' });
    expect((await send('DELETE', `${PATH}/${id}`, undefined, { 'if-match': '"1", "2"' })).status).toBe(204);
  });

  it('makes one of several changes at the same time that expect the same version', async () => {
    const id = await create();
    await suite.sql.query('BEGIN');
    await suite.sql.query('SELECT FROM geofences WHERE geofence_id = $1 FOR UPDATE', [id]);
    const changes = ['a', 'b', 'c', 'd'].map((name) => send('PATCH', `${PATH}/${id}`, { name }, { 'if-match': '"1"' }));
    await untilWaitingForLocks(suite.sql, changes.length);
    await suite.sql.query('ROLLBACK');
    const statuses = (await Promise.all(changes)).map(({ status }) => status);
    expect(statuses.sort()).toEqual([200, 412, 412, 412]);
    expect(await published(id)).toMatchObject([{ version: 1 }, { version: 2 }]);
  });

  it.each([[{}], [{ shape: { type: 'circle' } }], [{ version: 3 }]])('refuses %j', async (body) => {
    expect((await send('PATCH', `${PATH}/${await create()}`, body)).status).toBe(400);
  });

  it.each([
    ['GET', undefined],
    ['PATCH', { name: 'mine' }],
    ['DELETE', undefined],
  ])("does not find another fleet's: %s", async (method, json) => {
    const id = await create();
    const foreign = await suite.api.request(`${PATH}/${id}`, {
      method,
      json,
      key: suite.api.addKey(`${suite.fleetId}-other`),
    });
    const missing = await send(method, `${PATH}/00000000-0000-4000-8000-000000000000`, json);
    expect(foreign.status).toBe(404);
    expect(refusalOf(foreign)).toEqual(refusalOf(missing));
    expect((await send('GET', `${PATH}/${id}`)).body).toMatchObject({ name: 'Depot', version: 1 });
  });
});

describe('geofences', () => {
  it('are limited to 10,000 per fleet', async () => {
    await suite.sql.query(
      `INSERT INTO geofences (geofence_id, fleet_id, name, circle, version, created_at, updated_at)
       SELECT gen_random_uuid(), $1, 'g', '{}', 1, now(), now() FROM generate_series(1, 9999)`,
      [suite.fleetId],
    );
    const id = await create();
    const full = await send('POST', PATH, { name: 'one more', shape: CIRCLE });
    expect([full.status, full.body]).toMatchObject([409, { error: { code: 'too_many_geofences' } }]);
    await send('DELETE', `${PATH}/${id}`);
    await create();
  });

  it.each([
    ['POST', PATH, 'geofences:read'],
    ['GET', PATH, 'geofences:write'],
  ])('are not for a key that lacks the scope: %s', async (method, path, scope) => {
    const answer = await suite.api.request(path, {
      method,
      json: method === 'POST' ? {} : undefined,
      key: suite.api.addKey(suite.fleetId, [scope]),
    });
    expect(answer.status).toBe(403);
  });
});
