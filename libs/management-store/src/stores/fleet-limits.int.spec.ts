import { randomBytes, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { DataSource, EntityManager } from 'typeorm';
import { createDataSource, inFleet } from '@waypost/database';
import { useTestStore } from '../../../../test/support/test-store.js';
import { ApiKeyEntity, MANAGEMENT_ENTITIES, PortalSessionEntity, WebhookReplayEntity } from '../entities.js';
import { newSubscription } from '../testing/new-subscription.js';
import { ApiKeyStore } from './api-key-store.js';
import { NO_LIMITS } from './fleet-limits.js';
import { PortalSessionStore } from './portal-session-store.js';
import { ReplayStore } from './replay-store.js';

const NOW = Date.UTC(2026, 2, 20, 12);
const LIMITS = { ...NO_LIMITS, apiKeys: 40, portalSessions: 2_500 };

interface Statement {
  readonly text: string;
  readonly parameters: Parameters<EntityManager['query']>[1];
}

interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Index Name'?: string;
  readonly Plans?: readonly PlanNode[];
}

const suite = useTestStore(NOW);
let dataSource: DataSource;
const sent: Statement[] = [];

beforeAll(async () => {
  dataSource = await createDataSource(suite.apiUrl, { entities: MANAGEMENT_ENTITIES }).initialize();
  const ignored = () => undefined;
  dataSource.logger = {
    logQuery: (text, parameters) => sent.push({ text, parameters }),
    logQueryError: ignored,
    logQuerySlow: ignored,
    logSchemaBuild: ignored,
    logMigration: ignored,
    log: ignored,
  };
  // Of each of ten fleets 80 keys, 20 of them live, 2,000 live sessions and 3,000 that have ended.
  await suite.sql.query(
    `INSERT INTO fleets (fleet_id, payload_format, version, created_at, updated_at)
       SELECT 'f' || f, 'v1', 1, now(), now() FROM generate_series(0, 9) AS f`,
  );
  await suite.sql.query(
    `INSERT INTO api_keys (id, fleet_id, hash, scopes, created_at, revoked_at)
       SELECT gen_random_uuid(), 'f' || f, sha256((f || '-' || n)::text::bytea), '{}', $1::timestamptz, CASE WHEN n > 20 THEN $1::timestamptz END
         FROM generate_series(0, 9) AS f, generate_series(1, 80) AS n`,
    [new Date(NOW)],
  );
  await suite.sql.query(
    `WITH maker AS (SELECT fleet_id, (array_agg(id))[1:20] AS ids FROM api_keys WHERE revoked_at IS NULL GROUP BY fleet_id)
     INSERT INTO portal_sessions (id, fleet_id, key_id, scopes, code_expires_at, created_at, expires_at, revoked_at)
       SELECT gen_random_uuid(), fleet_id, ids[1 + n % 20], '{}', $1::timestamptz, $1::timestamptz + n * interval '1 ms',
              $1::timestamptz + interval '1 h', CASE WHEN n % 5 > 1 THEN $1::timestamptz END
         FROM maker, generate_series(1, 5000) AS n`,
    [new Date(NOW)],
  );
  await suite.sql.query(
    `INSERT INTO webhook_replays (replay_id, subscription_id, fleet_id, series, start_date, end_date, rate_per_second, cancelled,
                                  version, created_at, updated_at, progress_state)
       SELECT gen_random_uuid(), gen_random_uuid(), 'f' || f, 1, $1, $1, 1, false, 1, $1::timestamptz - n * interval '1 min', $1, 'completed'
         FROM generate_series(0, 9) AS f, generate_series(1, 3000) AS n`,
    [new Date(NOW)],
  );
  await suite.sql.query('VACUUM ANALYZE api_keys, portal_sessions, webhook_replays');
});
afterAll(() => dataSource.destroy());

/** Every node of the plan, in the sight of the fleet. */
async function planOf(manager: EntityManager, { text, parameters }: Statement): Promise<PlanNode[]> {
  const [row] = await manager.query<{ 'QUERY PLAN': { Plan: PlanNode }[] }[]>(
    `EXPLAIN (FORMAT JSON) ${text}`,
    parameters,
  );
  const nodesOf = (node: PlanNode): PlanNode[] => [node, ...(node.Plans ?? []).flatMap(nodesOf)];
  return (row?.['QUERY PLAN'] ?? []).flatMap(({ Plan }) => nodesOf(Plan));
}

/** How each statement of this work that reads the table does it, and whether it sorts what it reads. */
async function readsOf(work: () => Promise<unknown>, table = 'portal_sessions'): Promise<string[][]> {
  sent.length = 0;
  await work();
  const statements = sent.filter(({ text }) => /^SELECT/.test(text) && text.includes(`"${table}"`));
  return inFleet(dataSource.manager, 'f3', async (manager) => {
    const reads: string[][] = [];
    for (const statement of statements) {
      const plan = await planOf(manager, statement);
      const ofTable = plan.filter((node) => (node['Relation Name'] ?? node['Index Name'] ?? '').startsWith(table));
      reads.push([...plan.filter((node) => node['Node Type'] === 'Sort'), ...ofTable].map(nameOf));
    }
    return reads;
  });
}

const nameOf = (node: PlanNode): string => node['Index Name'] ?? node['Node Type'];

describe('what a creation reads while the fleet is locked (R-37)', () => {
  it('is an index for the live sessions, one for all of the fleet and one for the oldest, without a sort', async () => {
    const sessions = new PortalSessionStore(dataSource.getRepository(PortalSessionEntity), randomBytes);
    const maker = { fleetId: 'f3', keyId: null, adminKeyId: 'operator' };
    const times = { codeExpiresAt: NOW + 1, expiresAt: NOW + 1, nowMs: NOW };
    const session = { ...maker, ...times, scopes: [], subscriptionIds: null, returnUrl: null };
    const reads = await readsOf(() => sessions.create(session, LIMITS));
    expect(reads).toEqual([
      ['portal_sessions_by_end'],
      ['portal_sessions_live'],
      ['portal_sessions_page'],
      ['portal_sessions_page'],
    ]);
  });

  it('is, for a new key, an index for the sessions that name a revoked one', async () => {
    const keys = new ApiKeyStore(dataSource.getRepository(ApiKeyEntity), randomBytes);
    const reads = await readsOf(() => keys.create({ fleetId: 'f3', scopes: [], nowMs: NOW }, LIMITS));
    expect(reads.flat()).toContain('portal_sessions_by_key');
    expect(reads.flat()).not.toContain('Seq Scan');
  });

  it('is, for a new replay, an index for those that the fleet has started today', async () => {
    const subscription = newSubscription({ fleetId: 'f3' });
    await suite.store.subscriptions.create([subscription], NOW);
    const replays = new ReplayStore(dataSource.getRepository(WebhookReplayEntity));
    const asked = { startDate: NOW, endDate: NOW, status: null, statusCode: null, eventType: null, deviceId: null };
    const replay = { ...asked, replayId: randomUUID(), eventId: null, ratePerSecond: 1 };
    const reads = await readsOf(() => replays.create(subscription, replay, NOW, LIMITS), 'webhook_replays');
    expect(reads.at(-1)).toEqual(['webhook_replays_by_fleet']);
  });

  it('is an index for the sessions of a key that is deleted', async () => {
    const [key] = await suite.sql.query<{ id: string }>('SELECT id FROM api_keys LIMIT 1').then(({ rows }) => rows);
    // What the foreign key asks of each.
    const text = 'SELECT 1 FROM ONLY portal_sessions AS x WHERE $1 = key_id FOR KEY SHARE OF x';
    const plan = await inFleet(dataSource.manager, 'f3', (manager) => planOf(manager, { text, parameters: [key?.id] }));
    expect(plan.map(nameOf)).toContain('portal_sessions_by_key');
  });
});

describe('a portal session whose key is gone', () => {
  it('no longer counts as live', async () => {
    const { store, sql, fleetId } = suite;
    const key = await store.apiKeys.create({ fleetId, scopes: [], nowMs: NOW });
    if (key.type !== 'created') throw new Error(key.type);
    const times = { codeExpiresAt: NOW + 1, expiresAt: NOW + 1, nowMs: NOW };
    const session = { fleetId, keyId: key.id, adminKeyId: null, scopes: [], subscriptionIds: null, returnUrl: null };
    const made = await store.portalSessions.create({ ...session, ...times });
    if (made.type !== 'created') throw new Error(made.type);
    expect(await store.portalSessions.exchange(made.code, NOW)).toMatchObject({ type: 'exchanged' });
    const { rows } = await sql.query<{ token: Buffer }>(
      'SELECT token_hash AS token FROM portal_sessions WHERE id = $1',
      [made.stored.id],
    );
    const [{ token } = { token: Buffer.alloc(0) }] = rows;
    expect(await store.portalSessions.find(token, NOW)).toMatchObject({ id: made.stored.id });
    // Without the foreign key, as after a repair by hand.
    await sql.query('SET session_replication_role = replica');
    await sql.query('DELETE FROM api_keys WHERE id = $1', [key.id]);
    await sql.query('RESET session_replication_role');
    expect(await store.portalSessions.find(token, NOW)).toBeNull();
  });
});
