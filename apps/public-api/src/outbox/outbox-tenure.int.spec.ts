import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { resolveBatch, type SubjectCodec, topics } from '@waypost/contracts';
import { geofenceKey } from '@waypost/domain';
import { API_KEY_SCOPES, type ManagementStore, openManagementStore } from '@waypost/management-store';
import { readToEnd } from '@waypost/streams/admin';
import { createTestDatabase, type TestDatabase, untilOutboxEmpty } from '../../../../test/support/test-database.js';
import { requireTestStack } from '../../../../test/support/test-stack.js';
import { type ApiProcess, startApiProcess } from '../testing/api-process.js';
import { type ClientAnswer, createPersistentClient } from '../testing/persistent-client.js';
import { openTestStack } from '../testing/test-stack.js';

const KILLS = 3;
const WRITERS = 12;
const GEOFENCES = '/public/v1/geofences';
const SUBSCRIPTIONS = '/public/v1/webhook-subscriptions';
const fleetId = `fleet-${randomBytes(4).toString('hex')}`;

let stack: Awaited<ReturnType<typeof openTestStack>>;
let database: TestDatabase;
let store: ManagementStore;
let sql: pg.Client;
/** In the order in which they came up: the first holds the right to publish, and the next will. */
const processes: (ApiProcess & { readonly url: string })[] = [];
const started: ApiProcess[] = [];

beforeAll(async () => {
  [stack, database] = await Promise.all([openTestStack(), createTestDatabase(requireTestStack().databaseUrl)]);
  store = await openManagementStore(database.url);
  sql = new pg.Client({ connectionString: database.url });
  await sql.connect();
  await store.fleets.create({ fleetId, payloadFormat: 'v1', nowMs: Date.now() });
});
afterAll(async () => {
  await Promise.all(started.map((one) => one.kill()));
  await sql.end();
  await store.close();
  await stack.close();
  await database.drop();
});

const env = {
  KAFKA_BROKERS: requireTestStack().brokers.join(','),
  SCHEMA_REGISTRY_URL: requireTestStack().registryUrl,
  WAYPOST_SEALING_KEY: randomBytes(32).toString('base64'),
  WAYPOST_PAGE_TOKEN_KEY: randomBytes(32).toString('base64'),
  WAYPOST_EGRESS_ALLOW: '127.0.0.0/8',
  WAYPOST_ALLOW_HTTP: 'true',
};

async function startProcess(): Promise<void> {
  const one = startApiProcess({ ...env, DATABASE_URL: database.url });
  started.push(one);
  processes.push({ ...one, url: await one.ready() });
}

/** The responses to a writer about one resource that it made, changed, and perhaps deleted. */
interface Story {
  readonly topic: string;
  readonly key: string;
  readonly versions: (number | null)[];
  readonly tests: number;
}

/** Every version of every key, in the order of the topic; null is a tombstone. */
async function versionsIn<T extends object>(
  topic: string,
  codec: SubjectCodec<T>,
): Promise<Map<string, (number | null)[]>> {
  const found = new Map<string, (number | null)[]>();
  const fetcher = stack.backend.fetcher();
  await readToEnd(stack.backend, fetcher, { topic, partition: 0 }, 0, async ({ records }) => {
    await resolveBatch(codec, records);
    for (const { key, value } of records) {
      const name = key?.toString() ?? '';
      const decoded = value === null ? null : codec.decode(value);
      const version = decoded?.type === 'decoded' ? (decoded.value as unknown as { version: number }).version : null;
      found.set(name, [...(found.get(name) ?? []), version]);
    }
  });
  await fetcher.close();
  return found;
}

describe('changes while public-api is killed again and again', () => {
  it('are made once each, and every version of them is published once and in order (R-17)', async () => {
    const made = await store.apiKeys.create({ fleetId, scopes: API_KEY_SCOPES, nowMs: Date.now() });
    const key = made.type === 'created' ? made.key : '';
    let next = 0;
    let over = false;
    const url = (): string => processes[next++ % processes.length]?.url ?? 'http://127.0.0.1:1';
    const send = createPersistentClient({ url, key });
    await Promise.all(Array.from({ length: KILLS + 1 }, startProcess));

    /** The answer may have been lost with its process: then the version says that the change was made. */
    async function change(path: string, version: number, json: object): Promise<void> {
      const answer = await send({ method: 'PATCH', path, json, headers: { 'if-match': `"${String(version)}"` } });
      expect([200, 412]).toContain(answer.status);
      expect(answer.etag).toBe(`"${String(version + 1)}"`);
    }
    async function endOf(path: string, versions: (number | null)[], deletes: boolean): Promise<void> {
      if (!deletes) return;
      expect([204, 404]).toContain((await send({ method: 'DELETE', path })).status);
      versions.push(null);
    }
    async function geofence(index: number): Promise<Story> {
      const shape = { type: 'circle', center: { latitude: 1, longitude: 2 }, radiusInMeters: 3 };
      const answer = await send({ method: 'POST', path: GEOFENCES, json: { name: 'g1', shape } });
      const id = idIn(answer);
      const versions: (number | null)[] = [1];
      for (let version = 1; version < 2 + (index % 7); version++) {
        await change(`${GEOFENCES}/${id}`, version, { name: `g${String(version + 1)}` });
        versions.push(version + 1);
      }
      await endOf(`${GEOFENCES}/${id}`, versions, index % 3 === 0);
      return { topic: topics.fleetGeofences.name, key: geofenceKey({ fleetId, geofenceId: id }), versions, tests: 0 };
    }
    async function subscription(index: number): Promise<Story> {
      const json = { eventType: 'position', url: `http://127.0.0.1:9/${randomBytes(6).toString('hex')}` };
      const answer = await send({ method: 'POST', path: SUBSCRIPTIONS, json });
      const id = idIn({ ...answer, body: (answer.body as { data?: unknown[] }).data?.[0] });
      const versions: (number | null)[] = [1];
      await send({ method: 'POST', path: `${SUBSCRIPTIONS}/${id}/test` });
      for (let version = 1; version < 2 + (index % 5); version++) {
        await change(`${SUBSCRIPTIONS}/${id}`, version, { rateLimitPerSecond: version });
        versions.push(version + 1);
      }
      const rotated = await send({ method: 'POST', path: `${SUBSCRIPTIONS}/${id}/rotate-secret` });
      versions.push(Number(rotated.etag?.slice(1, -1)));
      await endOf(`${SUBSCRIPTIONS}/${id}`, versions, index % 3 === 1);
      return { topic: topics.webhookSubscriptions.name, key: id, versions, tests: 1 };
    }
    async function writer(number: number): Promise<Story[]> {
      const stories: Story[] = [];
      for (let index = number; !over; index++) {
        stories.push(await (index % 2 === 0 ? geofence(index) : subscription(index)));
      }
      return stories;
    }

    const writing = Promise.all(Array.from({ length: WRITERS }, (_, number) => writer(number)));
    for (let kill = 0; kill < KILLS; kill++) {
      await Promise.race([sleep(500 + Math.random() * 1_000), writing]);
      await processes.shift()?.kill();
    }
    await Promise.race([sleep(500), writing]);
    over = true;
    const stories = (await writing).flat();
    await untilOutboxEmpty(sql).catch((error: unknown) => {
      throw new Error(`The outbox is not published:\n${processes.map((one) => one.output()).join('\n')}`, {
        cause: error,
      });
    });

    const [geofences, subscriptions] = await Promise.all([
      versionsIn(topics.fleetGeofences.name, stack.codecs.fleetGeofences),
      versionsIn(topics.webhookSubscriptions.name, stack.codecs.webhookSubscriptions),
    ]);
    for (const { topic, key: name, versions } of stories) {
      const published = topic === topics.fleetGeofences.name ? geofences.get(name) : subscriptions.get(name);
      expect(published).toEqual(versions);
    }
    // A POST whose answer was lost was not carried out again.
    const published = stories.filter(({ topic }) => topic === topics.fleetGeofences.name).map((story) => story.key);
    const ours = [...geofences.keys()].filter((name) => name.startsWith(`${fleetId}\u001f`));
    expect(ours.sort()).toEqual(published.sort());
    for (const { key: name, tests } of stories.filter((story) => story.tests > 0).slice(0, 20)) {
      expect(await stack.recordsOf(topics.webhookDeliveries.name, name)).toHaveLength(tests);
    }
    expect(stories.flatMap(({ versions }) => versions).length).toBeGreaterThan(3 * WRITERS);
  }, 180_000);
});

function idIn({ status, body }: ClientAnswer): string {
  if (status !== 201) throw new Error(`${String(status)} ${JSON.stringify(body)}`);
  return (body as { id: string }).id;
}
