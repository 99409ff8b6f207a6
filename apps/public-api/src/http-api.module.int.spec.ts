import { randomBytes, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { formatApiKey } from '@waypost/domain';
import { API_KEY_SCOPES } from '@waypost/management-store';
import { requireTestStack } from '../../../test/support/test-stack.js';
import { type DocumentedOperation, securedOperations } from './testing/documented-operations.js';
import type { TestAnswer } from './testing/test-api.js';
import { idsFor, startTwoFleets, type TwoFleets } from './testing/two-fleets.js';

let fleets: TwoFleets;
const recorded: string[] = [];
const { query } = pg.Client.prototype;
beforeAll(async () => {
  // Before any connection is made: connections keep the way to ask that they began with.
  pg.Client.prototype.query = function record(this: pg.Client, ...given: unknown[]) {
    const [first] = given as [string | { readonly text?: string }];
    recorded.push(typeof first === 'string' ? first : (first.text ?? ''));
    return (query as (...all: unknown[]) => unknown).apply(this, given);
  } as typeof query;
  fleets = await startTwoFleets(requireTestStack().databaseUrl);
});
afterAll(async () => {
  pg.Client.prototype.query = query;
  expect(fleets.api.errors).toEqual([]);
  await fleets.close();
});

function named(operations: readonly DocumentedOperation[]) {
  return operations.map((operation) => [`${operation.method} ${operation.path}`, operation] as const);
}
/** Any key may ask what it is. */
const scoped = securedOperations.filter(({ path }) => path !== '/public/v1/session');
const withIds = securedOperations.filter(({ placeholders }) => placeholders.length > 0);
const reading = securedOperations.filter(({ method }) => method === 'GET');

function asOwner() {
  return { key: fleets.owner.key };
}
function asStranger() {
  return { key: fleets.stranger.key };
}
function ownersIds(operation: DocumentedOperation) {
  return idsFor(operation, fleets.owner);
}
function unknownIds({ placeholders }: DocumentedOperation) {
  return placeholders.map(() => randomUUID());
}

/** Every id and name in the answers that the owner gets: none of them may reach anyone else. */
async function whatTheOwnerSees(): Promise<{ readonly answers: readonly string[]; readonly marks: readonly string[] }> {
  const answers: string[] = [];
  for (const operation of reading) {
    const answer = await fleets.call(operation, ownersIds(operation), asOwner());
    expect([`${operation.method} ${operation.path}`, answer.status]).toEqual([expect.any(String), 200]);
    answers.push(JSON.stringify(answer.body));
  }
  const ids = answers.flatMap((text) => text.match(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22}/g) ?? []);
  return { answers, marks: [...new Set(ids), fleets.owner.id] };
}

function withoutIds({ status, body }: TestAnswer) {
  return {
    status,
    body: JSON.parse(JSON.stringify(body).replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22}/g, 'ID')) as unknown,
  };
}

describe('a request that makes something (R-43)', () => {
  it('names in Location where that can be read, without the secrets that are shown once', async () => {
    const { api, owner } = fleets;
    const makes = ({ method, path }: DocumentedOperation) =>
      method === 'POST' && api.document.paths[path]?.post?.responses['201'] !== undefined;
    const making = securedOperations.filter(makes);
    for (const operation of making) {
      const made = await fleets.call(operation, ownersIds(operation), asOwner());
      const answer = await api.request(made.headers.get('location') ?? '', { key: owner.key });
      expect([operation.path, made.status, answer.status]).toEqual([operation.path, 201, 200]);
      const secrets = /"(?:key|link|signingSecret|secret)":"([^"]+)"/.exec(JSON.stringify(made.body))?.slice(1) ?? [];
      for (const secret of secrets) expect(JSON.stringify(answer.body)).not.toContain(secret);
    }
    const paths = making.map(({ path }) => path);
    expect(paths).toEqual(expect.arrayContaining(['/public/v1/api-keys', '/public/v1/portal-sessions']));
  });
});

describe('a fleet that requests data of another fleet', () => {
  it.each(named(withIds))('gets the same 404 from %s as for an id that never existed', async (_name, operation) => {
    const theirs = await fleets.call(operation, ownersIds(operation), asStranger());
    expect(theirs.status).toBe(404);
    expect(theirs.body).toMatchObject({ error: { code: 'not_found' } });
    const unknown = await fleets.call(operation, unknownIds(operation), asStranger());
    expect(withoutIds(theirs)).toEqual(withoutIds(unknown));
  });

  it.each(named(withIds.filter(({ placeholders }) => placeholders.length > 1)))(
    'gets it from %s below a resource of its own too',
    async (_name, operation) => {
      const mixed = [...idsFor(operation, fleets.stranger).slice(0, -1), ownersIds(operation).at(-1) ?? ''];
      expect((await fleets.call(operation, mixed, asStranger())).status).toBe(404);
    },
  );

  it.each(named(withIds.filter(({ method }) => method === 'GET')))(
    'learns nothing by HEAD: %s',
    async (_name, operation) => {
      const theirs = await fleets.call(operation, ownersIds(operation), { ...asStranger(), method: 'HEAD' });
      expect([theirs.status, theirs.headers.get('etag')]).toEqual([404, null]);
    },
  );

  it('finds nothing of it in any list, whatever it filters by', async () => {
    const { answers, marks } = await whatTheOwnerSees();
    expect(marks.length).toBeGreaterThan(10);
    const secrets = [`device-of-${fleets.owner.id}`, ...marks];
    for (const operation of reading.filter(({ placeholders }) => placeholders.length === 0)) {
      const filters = operation.queryNames.filter((name) => name.endsWith('Id'));
      const queries = [{}, ...filters.flatMap((name) => secrets.map((value) => ({ [name]: value })))];
      for (const query of queries) {
        const answer = await fleets.call(operation, [], asStranger(), query);
        expect([200, 400]).toContain(answer.status);
        const text = JSON.stringify(answer.body);
        expect(secrets.filter((secret) => text.includes(secret))).toEqual([]);
      }
    }
    expect((await whatTheOwnerSees()).answers).toEqual(answers);
  });

  it.each(named(reading.filter(({ queryNames }) => queryNames.includes('pageState'))))(
    'cannot go on with the pages of %s',
    async (_name, operation) => {
      const first = await fleets.call(operation, ownersIds(operation), asOwner(), { limit: '1' });
      const { nextPageState, next_page_state: v1 } = first.body as Record<string, string | null | undefined>;
      const pageState = nextPageState ?? v1;
      // Otherwise there was nothing to protect: give the owner two of these in two-fleets.ts.
      expect(pageState).toEqual(expect.any(String));
      const request = { limit: '1', pageState: pageState ?? '' };
      const mine = await fleets.call(operation, ownersIds(operation), asOwner(), request);
      expect(mine.status).toBe(200);
      const theirs = await fleets.call(operation, ownersIds(operation), asStranger(), request);
      const refusal = { status: theirs.status, code: (theirs.body as { error: { code: string } }).error.code };
      expect([
        { status: 404, code: 'not_found' },
        { status: 400, code: 'page_state_other_fleet' },
      ]).toContainEqual(refusal);
      const own = await fleets.call(operation, idsFor(operation, fleets.stranger), asStranger(), request);
      expect(own.status).toBe(400);
    },
  );

  it('changes nothing by all of its attempts', async () => {
    const before = (await whatTheOwnerSees()).answers;
    for (const operation of securedOperations.filter(({ method }) => method !== 'GET')) {
      await fleets.call(operation, ownersIds(operation), asStranger());
    }
    expect((await whatTheOwnerSees()).answers).toEqual(before);
  });
});

describe('every operation', () => {
  const unauthorized = {
    error: { code: 'unauthorized', message: expect.any(String) as unknown, requestId: expect.any(String) as unknown },
  };

  it.each(named(securedOperations))('%s wants a key that is alive', async (_name, operation) => {
    for (const key of [null, 'nonsense', formatApiKey(randomBytes(32)), `${fleets.owner.key}x`]) {
      const answer = await fleets.call(operation, ownersIds(operation), { key });
      expect(answer.status).toBe(401);
      expect(answer.body).toEqual(unauthorized);
      expect(answer.headers.get('www-authenticate')).toMatch(/^Bearer realm="waypost"/);
    }
  });

  it.each(named(scoped))('%s wants its scope, and only that', async (_name, operation) => {
    const { api, owner } = fleets;
    const call = (scopes: readonly string[]) =>
      fleets.call(operation, unknownIds(operation), { key: api.addKey(`${owner.id}-empty`, scopes) });
    const refused = await call([]);
    expect(refused.status).toBe(403);
    expect(refused.body).toEqual({
      error: { code: 'forbidden', message: expect.any(String) as unknown, requestId: expect.any(String) as unknown },
    });
    const scope = /scope="([^"]+)"/.exec(refused.headers.get('www-authenticate') ?? '')?.[1] ?? '';
    expect(API_KEY_SCOPES).toContain(scope);
    expect((await call(API_KEY_SCOPES.filter((other) => other !== scope))).status).toBe(403);
  });

  it('refuses a key within seconds of its end', async () => {
    const { store, owner, advance } = fleets;
    const made = await store.apiKeys.create({ fleetId: owner.id, scopes: API_KEY_SCOPES, nowMs: Date.now() });
    if (made.type !== 'created') throw new Error('no key');
    const listed = securedOperations.find(({ method, path }) => method === 'GET' && path.endsWith('/api-keys'));
    const revoking = securedOperations.find(
      ({ method, path }) => method === 'DELETE' && path.endsWith('/api-keys/{id}'),
    );
    if (listed === undefined || revoking === undefined) throw new Error('the document has no keys');
    expect((await fleets.call(listed, [], { key: made.key })).status).toBe(200);
    expect((await fleets.call(revoking, [made.id], asOwner())).status).toBe(204);
    advance(3_000);
    for (const operation of securedOperations) {
      const answer = await fleets.call(operation, ownersIds(operation), { key: made.key });
      expect([operation.path, answer.status, answer.body]).toEqual([operation.path, 401, unauthorized]);
    }
  });
});

describe('what callers send', () => {
  it('never stands in the text of SQL', async () => {
    recorded.length = 0;
    const odd = `o'); SELECT "${randomUUID()}`;
    for (const operation of securedOperations) {
      for (const ids of [ownersIds(operation), operation.placeholders.map(() => encodeURIComponent(odd))]) {
        await fleets.call(operation, ids, asOwner());
        for (const name of operation.queryNames) {
          const answer = await fleets.call(operation, ids, asOwner(), { [name]: odd });
          expect(answer.status).toBeLessThan(500);
        }
      }
    }
    expect(recorded.filter((text) => text.includes('webhook_subscriptions')).length).toBeGreaterThan(10);
    expect(recorded.filter((text) => text.includes('deliveries')).length).toBeGreaterThan(5);
    const values = [odd, fleets.owner.id, ...fleets.owner.made.values(), 'receiver.example', '2026-03-15'];
    for (const value of values) expect(recorded.filter((text) => text.includes(value))).toEqual([]);
  });
});
