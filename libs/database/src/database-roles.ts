/** SQL by hand: TypeORM has no statements for rights. */
import type { EntityManager } from 'typeorm';

/**
 * The rights of public-api and history-projector, held by these two roles. A login that is a member of one has them. Without
 * these roles nothing is granted: one login that owns the tables does everything.
 */
export const API_ROLE = 'waypost_api';
export const PROJECTOR_ROLE = 'waypost_projector';

type Role = typeof API_ROLE | typeof PROJECTOR_ROLE;

interface Grant {
  readonly role: Role;
  readonly on: 'TABLE' | 'SEQUENCE';
  readonly privileges: readonly string[];
  readonly names: readonly string[];
}

const EVERYTHING = ['SELECT', 'INSERT', 'UPDATE', 'DELETE'];
const MANAGED = [
  'fleets',
  'api_keys',
  'portal_sessions',
  'fleet_portals',
  'webhook_subscriptions',
  'geofences',
  'webhook_replays',
  'webhook_replay_series',
  'idempotency_keys',
  'subscription_operations',
  'outbox',
];
const VIEWS = ['fleet_deliveries', 'fleet_delivery_figures', 'fleet_path_points', 'fleet_waiting_deliveries'];
const PROJECTED = [
  'deliveries',
  'delivery_figures',
  'path_points',
  'waiting_deliveries',
  'projection_positions',
  'projected_topics',
  'delivery_progress',
];

const PAGES: Grant = {
  role: API_ROLE,
  on: 'TABLE',
  privileges: ['SELECT'],
  names: [...VIEWS, 'delivery_progress', 'migrations'],
};
const GRANTS: readonly Grant[] = [
  { role: API_ROLE, on: 'TABLE', privileges: EVERYTHING, names: MANAGED },
  { role: API_ROLE, on: 'SEQUENCE', privileges: ['USAGE'], names: ['outbox_id_seq'] },
  PAGES,
  { role: PROJECTOR_ROLE, on: 'TABLE', privileges: EVERYTHING, names: PROJECTED },
  { role: PROJECTOR_ROLE, on: 'TABLE', privileges: ['SELECT'], names: ['migrations'] },
];

/** What a login is for: that of public-api or of history-projector, or that of public-api at a standby. */
export type LoginPurpose = Role | 'pages';

/**
 * Returns what the login of the connection may not do, such as `INSERT on outbox`. Of tables that do not exist it says nothing.
 */
export async function missingTableRights(
  connection: Pick<EntityManager, 'query'>,
  purposes: readonly LoginPurpose[],
): Promise<readonly string[]> {
  const grants = purposes.flatMap((purpose) =>
    purpose === 'pages' ? [PAGES] : GRANTS.filter(({ role }) => role === purpose),
  );
  const wanted = grants.flatMap(({ on, privileges, names }) =>
    names.flatMap((name) => privileges.map((privilege) => ({ on, name, privilege }))),
  );
  // Of a list of privileges, PostgreSQL says whether any is held: so each is asked for.
  const rows = await connection.query<{ name: string; privilege: string }[]>(
    `SELECT DISTINCT name, privilege
       FROM unnest($1::text[], $2::text[], $3::text[]) AS wanted (kind, name, privilege)
      WHERE NOT CASE WHEN to_regclass(name) IS NULL THEN true
                     WHEN kind = 'SEQUENCE' THEN has_sequence_privilege(name, privilege)
                     ELSE has_table_privilege(name, privilege) END
      ORDER BY name, privilege`,
    [wanted.map(({ on }) => on), wanted.map(({ name }) => name), wanted.map(({ privilege }) => privilege)],
  );
  return rows.map(({ name, privilege }) => `${privilege} on ${name}`);
}

/** After the migrations, so that new tables have rights too. The caller holds the lock on migrations. */
export async function grantRights(manager: EntityManager): Promise<void> {
  for (const { role, on, privileges, names } of GRANTS) {
    if (!(await roleExists(manager, role))) continue;
    await manager.query(`GRANT ${privileges.join(', ')} ON ${on} ${names.join(', ')} TO ${role}`);
  }
  if (!(await roleExists(manager, PROJECTOR_ROLE))) return;
  for (const day of await daysOfTables(manager)) await grantLastingDay(manager, day);
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
