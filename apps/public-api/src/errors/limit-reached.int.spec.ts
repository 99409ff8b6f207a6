import { beforeEach, describe, expect, it } from '@jest/globals';
import type { TestAnswer } from '../testing/test-api.js';
import { useTestFleet } from '../testing/test-fleet.js';

const KEYS = '/public/v1/api-keys';
const SESSIONS = '/public/v1/portal-sessions';
const SCOPES = { scopes: ['events:read'] };

const suite = useTestFleet({ fleetLimits: { apiKeys: 3, portalSessions: 3 } });
/** The one stored key of the fleet, which makes the sessions. */
let key: string;
let keyId: string;

beforeEach(async () => {
  ({ key, id: keyId } = await suite.storeKey());
});

const create = (path: string, body: object = {}): Promise<TestAnswer> =>
  suite.api.request(path, { method: 'POST', key, json: { ...SCOPES, ...body } });

async function createId(path: string, body: object = {}): Promise<string> {
  const answer = await create(path, body);
  expect(answer.status).toBe(201);
  return (answer.body as { id: string }).id;
}

/** The ids in the order of their creation, and the clock after it. */
async function createAndRevoke(count: number, path = KEYS): Promise<string[]> {
  const ids: string[] = [];
  for (let n = 0; n < count; n++) {
    const id = await createId(path);
    suite.nowMs += 1;
    await suite.send('DELETE', `${path}/${id}`);
    ids.push(id);
  }
  suite.nowMs += 1;
  return ids;
}

async function listed(path: string): Promise<string[]> {
  return ((await suite.send('GET', path)).body as { data: { id: string }[] }).data.map(({ id }) => id);
}

/** With a connection each, which exists already: those that queue for the first would not be concurrent. */
async function createAtOnce(path: string, count: number): Promise<TestAnswer[]> {
  const times = Array.from({ length: count });
  await Promise.all(times.map(() => suite.store.fleets.count()));
  return Promise.all(times.map(() => create(path)));
}

const statusesOf = (answers: readonly TestAnswer[]): number[] => answers.map(({ status }) => status).sort();
const refusedOf = (answers: readonly TestAnswer[]): unknown => answers.find(({ status }) => status === 409)?.body;

describe('the limit of API keys of a fleet (R-37)', () => {
  it('lets no concurrent requests create more than are left, and says what there is', async () => {
    const answers = await createAtOnce(KEYS, 8);
    expect(statusesOf(answers)).toEqual([201, 201, ...Array<number>(6).fill(409)]);
    expect(refusedOf(answers)).toEqual({
      error: {
        code: 'too_many_api_keys',
        message: 'A fleet may have 3 API keys that are not revoked: it has 3, and this would add 1.',
        details: [{ limit: 3, current: 3, message: 'would add 1' }],
        requestId: expect.any(String) as unknown,
      },
    });
  });

  it('does not count keys that are revoked, nor those of other fleets', async () => {
    const [one] = [await createId(KEYS), await createId(KEYS)];
    const other = `${suite.fleetId}-other`;
    await suite.store.fleets.create({ fleetId: other, payloadFormat: 'v1', nowMs: suite.nowMs });
    const { key: theirs } = await suite.storeKey({ fleetId: other });
    expect((await suite.api.request(KEYS, { method: 'POST', key: theirs, json: SCOPES })).status).toBe(201);
    expect((await create(KEYS)).status).toBe(409);
    await suite.send('DELETE', `${KEYS}/${one}`);
    expect((await create(KEYS)).status).toBe(201);
  });

  it('does not bind an operator at the command line', async () => {
    await Promise.all([createId(KEYS), createId(KEYS)]);
    const { store, fleetId, nowMs } = suite;
    expect(await store.apiKeys.create({ fleetId, scopes: [], nowMs })).toMatchObject({ type: 'created' });
  });

  it('keeps as many revoked keys, the last revoked, so that revoking makes no room for ever more rows', async () => {
    const revoked = await createAndRevoke(5);
    const last = await createId(KEYS);
    expect(await listed(KEYS)).toEqual([keyId, ...revoked.slice(-3), last]);
  });

  it('keeps a revoked key that a listed session names, beside the last revoked', async () => {
    const named = await suite.storeKey();
    await suite.api.request(SESSIONS, { method: 'POST', key: named.key, json: SCOPES });
    await suite.send('DELETE', `${KEYS}/${named.id}`);
    const revoked = await createAndRevoke(5);
    const last = await createId(KEYS);
    expect((await listed(KEYS)).sort()).toEqual([keyId, named.id, ...revoked.slice(-3), last].sort());
  });
});

describe('the limit of portal sessions of a fleet (R-42)', () => {
  it('lets no concurrent requests create more than are left, and says what there is', async () => {
    const answers = await createAtOnce(SESSIONS, 8);
    expect(statusesOf(answers)).toEqual([201, 201, 201, ...Array<number>(5).fill(409)]);
    expect(refusedOf(answers)).toMatchObject({
      error: {
        code: 'too_many_portal_sessions',
        message: 'A fleet may have 3 portal sessions that have not ended: it has 3, and this would add 1.',
        details: [{ limit: 3, current: 3, message: 'would add 1' }],
      },
    });
  });

  it.each<[string, (id: string) => Promise<unknown>]>([
    ['has expired', () => Promise.resolve((suite.nowMs += 60_000))],
    ['is revoked', (id) => suite.send('DELETE', `${SESSIONS}/${id}`)],
    ['has lost its key', () => suite.store.apiKeys.revoke({ fleetId: suite.fleetId, id: keyId }, suite.nowMs)],
  ])('does not count a session that %s', async (_, end) => {
    const id = await createId(SESSIONS, { expiresIn: 60 });
    ({ key } = await suite.storeKey());
    await createId(SESSIONS);
    await createId(SESSIONS);
    expect((await create(SESSIONS)).status).toBe(409);
    await end(id);
    expect(statusesOf([await create(SESSIONS), await create(SESSIONS)])).toEqual([201, 409]);
  });

  it('keeps as many ended sessions, the newest, so that revoking makes no room for ever more rows', async () => {
    const ended = await createAndRevoke(5, SESSIONS);
    const live = await createId(SESSIONS);
    expect(await listed(SESSIONS)).toEqual([...ended.slice(-3), live]);
  });
});
