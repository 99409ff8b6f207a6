/** SQL by hand: TypeORM has no statements for rights. */
import type { EntityManager } from 'typeorm';

/**
 * The rights of public-api and history-projector, held by these two roles. A login that is a member of one has them. Without
 * these roles nothing is granted: one login that owns the tables does everything.
 */
export const API_ROLE = 'waypost_api';
export const PROJECTOR_ROLE = 'waypost_projector';

const MANAGED =
  'fleets, api_keys, portal_sessions, fleet_portals, webhook_subscriptions, geofences, webhook_replays, ' +
  'webhook_replay_series, idempotency_keys, subscription_operations, outbox';
const VIEWS = 'fleet_deliveries, fleet_delivery_figures, fleet_path_points, fleet_waiting_deliveries';
const PROJECTED =
  'deliveries, delivery_figures, path_points, waiting_deliveries, projection_positions, projected_topics, delivery_progress';

const RIGHTS: readonly (readonly [role: string, grants: readonly string[]])[] = [
  [
    API_ROLE,
    [
      `GRANT SELECT, INSERT, UPDATE, DELETE ON ${MANAGED} TO ${API_ROLE}`,
      `GRANT USAGE ON SEQUENCE outbox_id_seq TO ${API_ROLE}`,
      `GRANT SELECT ON ${VIEWS}, delivery_progress, migrations TO ${API_ROLE}`,
    ],
  ],
  [
    PROJECTOR_ROLE,
    [
      `GRANT SELECT, INSERT, UPDATE, DELETE ON ${PROJECTED} TO ${PROJECTOR_ROLE}`,
      `GRANT SELECT ON migrations TO ${PROJECTOR_ROLE}`,
    ],
  ],
];

/** After the migrations, so that new tables have rights too. The caller holds the lock on migrations. */
export async function grantRights(manager: EntityManager): Promise<void> {
  for (const [role, grants] of RIGHTS) {
    if (!(await roleExists(manager, role))) continue;
    for (const grant of grants) await manager.query(grant);
    if (role === PROJECTOR_ROLE) {
      for (const day of await daysOfTables(manager)) await grantLastingDay(manager, day);
    }
  }
}

/**
 * The projector writes the table of a day directly: COPY does not work under row-level security, which the days therefore do
 * not have. No other role has a right on them.
 *
 * @param day the name of a table that our code has made
 */
export async function grantDay(manager: EntityManager, day: string): Promise<void> {
  if (await roleExists(manager, PROJECTOR_ROLE))
    await manager.query(`GRANT SELECT, INSERT, UPDATE, DELETE ON ${day} TO ${PROJECTOR_ROLE}`);
}

/** Another projector may drop the day meanwhile, because it has expired: whatever error that gives, the day needs no rights. */
async function grantLastingDay(manager: EntityManager, day: string): Promise<void> {
  try {
    await grantDay(manager, day);
  } catch (error) {
    if ((await daysOfTables(manager)).includes(day)) throw error;
  }
}

async function roleExists(manager: EntityManager, role: string): Promise<boolean> {
  const rows: unknown[] = await manager.query('SELECT 1 FROM pg_roles WHERE rolname = $1', [role]);
  return rows.length > 0;
}

async function daysOfTables(manager: EntityManager): Promise<readonly string[]> {
  const rows = await manager.query<{ name: string }[]>(
    `SELECT day.relname AS name FROM pg_inherits JOIN pg_class day ON day.oid = inhrelid
      WHERE day.relkind = 'r' AND day.relnamespace = current_schema()::regnamespace`,
  );
  return rows.map(({ name }) => name);
}
