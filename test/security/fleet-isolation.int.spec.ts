/** Row-level security: what a query shows that has no condition on the fleet. SQL as a programmer would get it wrong. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import type { DataSource } from 'typeorm';
import { createDataSource, inAllFleets, inFleet, runMigrations } from '@waypost/database';
import { createDeliveryPartitions } from '@waypost/history-store';
import { createEmptyDatabase, createTestDatabase, type TestDatabase } from '../support/test-database.js';
import { requireTestStack } from '../support/test-stack.js';

const serverUrl = requireTestStack().databaseUrl;
const AT = Date.UTC(2026, 2, 20, 12);
const FLEETS = ['fleet-a', 'fleet-b'];

let database: TestDatabase;
let admin: pg.Client;
let api: DataSource;
/** What has rows of fleets, without the tables of days. */
let tables: readonly string[];

beforeAll(async () => {
  database = await createTestDatabase(serverUrl);
  admin = await connect(database.url);
  await fillEverything(admin, database.url);
  api = await createDataSource(database.apiUrl).initialize();
  tables = await tablesWithFleets(admin);
});
afterAll(async () => {
  await api.destroy();
  await admin.end();
  await database.drop();
});

async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  return client;
}

async function tablesWithFleets(client: pg.Client): Promise<readonly string[]> {
  const { rows } = await client.query<{ name: string }>(
    `SELECT relname AS name FROM pg_class JOIN pg_attribute ON attrelid = pg_class.oid AND attname = 'fleet_id'
      WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition ORDER BY relname`,
  );
  return rows.map(({ name }) => name);
}

const REQUIRED_BY_CHECKS: Readonly<Record<string, readonly { name: string; type: string }[]>> = {
  geofences: [{ name: 'circle', type: 'jsonb' }],
  portal_sessions: [{ name: 'admin_key_id', type: 'text' }],
};

/** A row of each fleet in every table with fleets, whatever its columns are: also in those that do not exist yet. */
async function fillEverything(client: pg.Client, url: string): Promise<void> {
  const owner = await createDataSource(url).initialize();
  await createDeliveryPartitions(owner).ensurePartitions(AT, AT);
  await owner.destroy();
  for (const table of ['delivery_figures', 'path_points', 'waiting_deliveries'])
    await client.query(`CREATE TABLE ${table}_all PARTITION OF ${table} DEFAULT`);
  await client.query('SET session_replication_role = replica');
  for (const table of await tablesWithFleets(client)) {
    const { rows } = await client.query<{ name: string; type: string }>(
      `SELECT column_name AS name, udt_name AS type FROM information_schema.columns
        WHERE table_schema = 'public' AND table_name = $1 AND is_nullable = 'NO' AND column_default IS NULL`,
      [table],
    );
    const columns = [...rows, ...(REQUIRED_BY_CHECKS[table] ?? [])];
    for (const fleetId of FLEETS) {
      const values = columns.map(({ name, type }) => valueOf(name, type, fleetId));
      const names = columns.map(({ name }) => name).join(', ');
      await client.query(`INSERT INTO ${table} (${names}) VALUES (${values.join(', ')})`);
    }
  }
  await client.query('RESET session_replication_role');
}

function valueOf(name: string, type: string, fleetId: string): string {
  if (name === 'fleet_id') return `'${fleetId}'`;
  if (name === 'status') return "'pending'";
  const values: Readonly<Record<string, string>> = {
    text: "'text'",
    uuid: 'gen_random_uuid()',
    timestamptz: `'${new Date(AT).toISOString()}'`,
    bool: 'false',
    int4: '1',
    int8: '1',
    jsonb: "'{}'",
    _text: "'{}'",
    _int8: "'{}'",
    bytea: 'sha256(random()::text::bytea)',
  };
  return values[type] ?? 'NULL';
}

/** What public-api reads of a table: managed rows there, the history through its view. */
function readable(table: string): string {
  const isHistory = ['deliveries', 'delivery_figures', 'path_points', 'waiting_deliveries'].includes(table);
  return isHistory ? `fleet_${table}` : table;
}

async function fleetsShown(run: (sql: string) => Promise<{ fleet_id: string }[]>): Promise<Record<string, string[]>> {
  const shown: Record<string, string[]> = {};
  for (const table of tables) {
    const rows = await run(`SELECT DISTINCT fleet_id FROM ${readable(table)} ORDER BY fleet_id`);
    shown[table] = rows.map((row) => row.fleet_id);
  }
  return shown;
}

function everyTableShows(fleets: readonly string[]): Record<string, readonly string[]> {
  return Object.fromEntries(tables.map((table) => [table, fleets]));
}

describe('A query without a condition on the fleet (R-37)', () => {
  it('shows, as public-api, the rows of the fleet of its transaction and of no other, in every table', async () => {
    expect(tables.length).toBeGreaterThan(10);
    const shown = await inFleet(api.manager, 'fleet-a', (manager) => fleetsShown((sql) => manager.query(sql)));
    expect(shown).toEqual(everyTableShows(['fleet-a']));
  });

  it('shows nothing when no fleet is set, before and after a transaction that had one', async () => {
    const fresh = await connect(database.apiUrl);
    const run = async (sql: string) => (await fresh.query<{ fleet_id: string }>(sql)).rows;
    expect(await fleetsShown(run)).toEqual(everyTableShows([]));
    await fresh.query("BEGIN; SELECT set_config('waypost.fleet', 'fleet-a', true); COMMIT");
    expect(await fleetsShown(run)).toEqual(everyTableShows([]));
    await fresh.end();
  });

  it('changes nothing of another fleet', async () => {
    await inFleet(api.manager, 'fleet-a', async (manager) => {
      await manager.query("UPDATE fleets SET name = 'changed'");
      await manager.query('DELETE FROM geofences');
    });
    const left = await admin.query('SELECT fleet_id, name FROM fleets ORDER BY fleet_id');
    expect(left.rows).toEqual([
      { fleet_id: 'fleet-a', name: 'changed' },
      { fleet_id: 'fleet-b', name: null },
    ]);
    const geofences = await admin.query('SELECT fleet_id FROM geofences');
    expect(geofences.rows).toEqual([{ fleet_id: 'fleet-b' }]);
  });

  it('adds nothing to another fleet', async () => {
    const insert = inFleet(api.manager, 'fleet-a', (manager) =>
      manager.query("INSERT INTO idempotency_keys VALUES ('fleet-b', 'POST /x', 'key', 'sealed', '{}', now())"),
    );
    await expect(insert).rejects.toThrow(/row-level security/);
  });

  it('shows every fleet to what works for all of them, and the one fleet again afterwards', async () => {
    await inFleet(api.manager, 'fleet-a', async (manager) => {
      const all = await inAllFleets(manager, (every) => every.query('SELECT fleet_id FROM fleets ORDER BY fleet_id'));
      expect(all).toEqual(FLEETS.map((fleet_id) => ({ fleet_id })));
      expect(await manager.query('SELECT fleet_id FROM fleets')).toEqual([{ fleet_id: 'fleet-a' }]);
    });
  });

  it('shows one fleet also in an installation with one login, which owns the tables', async () => {
    const login = 'test_owner';
    const created = `CREATE ROLE ${login} LOGIN PASSWORD '${login}'`;
    await admin.query(`DO $$ BEGIN ${created}; EXCEPTION WHEN duplicate_object THEN NULL; END $$`);
    const single = await createEmptyDatabase(serverUrl);
    await admin.query(`ALTER DATABASE ${new URL(single.url).pathname.slice(1)} OWNER TO ${login}`);
    const url = Object.assign(new URL(single.url), { username: login, password: login }).href;
    await runMigrations(url);
    const superuser = await connect(single.url);
    await fillEverything(superuser, single.url);
    const owner = await createDataSource(url).initialize();

    const shown = await inFleet(owner.manager, 'fleet-b', (manager) => fleetsShown((sql) => manager.query(sql)));
    expect(shown).toEqual(everyTableShows(['fleet-b']));

    await Promise.all([owner.destroy(), superuser.end()]);
    await single.drop();
  });
});

describe('The rights in the catalog', () => {
  it('force row-level security on every table that has fleets', async () => {
    const { rows } = await admin.query(
      `SELECT relname FROM pg_class WHERE relname = ANY ($1) AND NOT (relrowsecurity AND relforcerowsecurity)`,
      [tables],
    );
    expect(rows).toEqual([]);
  });

  it('give public-api nothing of the history but its views, above all no table of a day', async () => {
    const { rows } = await admin.query<{ name: string }>(
      `SELECT relname AS name FROM pg_class
        WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p')
          AND (relispartition OR relname IN ('deliveries', 'delivery_figures', 'path_points', 'waiting_deliveries'))`,
    );
    expect(rows.length).toBeGreaterThan(7);
    for (const { name } of rows) {
      const rights = await admin.query("SELECT has_table_privilege('test_api', $1, 'SELECT, INSERT, UPDATE') AS any", [
        name,
      ]);
      expect([name, rights.rows]).toEqual([name, [{ any: false }]]);
    }
  });

  it('make no application the owner of a table, and let none pass row-level security', async () => {
    const { rows } = await admin.query(
      `SELECT rolname FROM pg_roles
        WHERE rolname IN ('waypost_api', 'waypost_projector', 'test_api', 'test_projector')
          AND (rolsuper OR rolbypassrls OR rolcreaterole OR EXISTS (SELECT FROM pg_class WHERE relowner = pg_roles.oid))`,
    );
    expect(rows).toEqual([]);
  });

  it('give the projector the history and nothing of what people manage', async () => {
    const projector = await connect(database.projectorUrl);
    await projector.query("SET waypost.fleet = '*'");
    const { rows } = await projector.query('SELECT fleet_id FROM deliveries_20260320 ORDER BY fleet_id');
    expect(rows).toEqual(FLEETS.map((fleet_id) => ({ fleet_id })));
    await expect(projector.query('SELECT FROM api_keys')).rejects.toThrow(/permission denied/);
    await projector.end();
  });
});
