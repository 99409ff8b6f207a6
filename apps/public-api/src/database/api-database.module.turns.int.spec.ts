import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import pg from 'pg';
import { API_KEY_SCOPES, type ManagementStore, openManagementStore } from '@waypost/management-store';
import { untilWaitingForLocks } from '../../../../test/support/lock-waits.js';
import { createTestDatabase, type TestDatabase } from '../../../../test/support/test-database.js';
import { requireTestStack } from '../../../../test/support/test-stack.js';
import { type ApiProcess, startApiProcess } from '../testing/api-process.js';
import { openTestStack } from '../testing/test-stack.js';

/** Twice as many as the process has connections. */
const CHANGES = 20;
const TURNS = 4;
const GEOFENCE = { name: 'Depot', shape: { type: 'circle', center: { latitude: 1, longitude: 2 }, radiusInMeters: 3 } };

let stack: Awaited<ReturnType<typeof openTestStack>>;
let database: TestDatabase;
let store: ManagementStore;
let sql: pg.Client;
let api: ApiProcess;
let url: string;

beforeAll(async () => {
  [stack, database] = await Promise.all([openTestStack(), createTestDatabase(requireTestStack().databaseUrl)]);
  store = await openManagementStore(database.url);
  sql = new pg.Client({ connectionString: database.url });
  await sql.connect();
  api = startApiProcess({
    DATABASE_URL: database.url,
    KAFKA_BROKERS: requireTestStack().brokers.join(','),
    SCHEMA_REGISTRY_URL: requireTestStack().registryUrl,
    WAYPOST_SEALING_KEY: randomBytes(32).toString('base64'),
    WAYPOST_PAGE_TOKEN_KEY: randomBytes(32).toString('base64'),
  });
  url = await api.ready();
}, 180_000);
afterAll(async () => {
  await api.kill();
  await sql.end();
  await store.close();
  await stack.close();
  await database.drop();
});

/** @returns a key of the new fleet, which no process has seen */
async function makeFleet(fleetId: string): Promise<string> {
  await store.fleets.create({ fleetId, payloadFormat: 'v1', nowMs: Date.now() });
  const made = await store.apiKeys.create({ fleetId, scopes: API_KEY_SCOPES, nowMs: Date.now() });
  if (made.type !== 'created') throw new Error(made.type);
  return made.key;
}

async function statusOf(key: string, path: string, json?: object): Promise<number> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const post = json === undefined ? {} : { method: 'POST', body: JSON.stringify(json) };
  return (await fetch(url + path, { headers, ...post })).status;
}

async function waitingForLocks(): Promise<number> {
  // A transaction sees what it has seen of the sessions before.
  await sql.query('SELECT pg_stat_clear_snapshot()');
  const { rowCount } = await sql.query(
    "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'",
  );
  return rowCount ?? 0;
}

it('a fleet whose changes wait for each other leaves connections to the others, and to their keys (R-26)', async () => {
  const [busy, other] = [await makeFleet('busy'), await makeFleet('other')];
  expect(await statusOf(busy, '/public/v1/fleet')).toBe(200);
  await sql.query('BEGIN');
  await sql.query("SELECT FROM fleets WHERE fleet_id = 'busy' FOR UPDATE");
  const change = () => statusOf(busy, '/public/v1/geofences', GEOFENCE).catch(() => 0);
  const changes = Promise.all(Array.from({ length: CHANGES }, change));
  try {
    await untilWaitingForLocks(sql, TURNS);
    expect(await statusOf(other, '/public/v1/fleet')).toBe(200);
    expect(await waitingForLocks()).toBe(TURNS);
  } finally {
    await sql.query('ROLLBACK');
  }
  const statuses = await changes;
  expect(statuses.filter((status) => status === 201).length).toBeGreaterThanOrEqual(TURNS);
  // On a machine that is busy elsewhere, some may have waited for too long.
  expect(statuses.filter((status) => ![201, 429].includes(status))).toEqual([]);
});
