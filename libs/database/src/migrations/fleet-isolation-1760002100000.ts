import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Row-level security on every table with a fleet: a transaction sees the fleet that it names in `waypost.fleet`, so that a
 * forgotten condition shows nothing of another (docs/decisions/0056-row-level-security.md).
 *
 * Pages of the history are read through views. Their conditions on hashes would not use an index under a policy, because
 * PostgreSQL evaluates the policy first; a view has its condition beside them. A view reads with the rights of its owner.
 */
export class FleetIsolation1760002100000 implements MigrationInterface {
  readonly name = 'FleetIsolation1760002100000';

  async up(queryRunner: QueryRunner): Promise<void> {
    for (const table of TABLES) {
      await queryRunner.query(`ALTER TABLE ${table} ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY`);
      await queryRunner.query(
        `CREATE POLICY fleet ON ${table} USING (fleet_id = current_setting('waypost.fleet', true))`,
      );
      await queryRunner.query(
        `CREATE POLICY all_fleets ON ${table} USING (current_setting('waypost.fleet', true) = '*')`,
      );
    }
    for (const { table, isFleet } of HISTORY) {
      await queryRunner.query(`CREATE POLICY owner ON ${table} TO CURRENT_USER USING (true)`);
      await queryRunner.query(`CREATE VIEW fleet_${table} AS SELECT * FROM ${table} WHERE ${isFleet}`);
    }
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    for (const { table } of HISTORY) {
      await queryRunner.query(`DROP VIEW fleet_${table}`);
      await queryRunner.query(`DROP POLICY owner ON ${table}`);
    }
    for (const table of TABLES) {
      await queryRunner.query(`DROP POLICY all_fleets ON ${table}`);
      await queryRunner.query(`DROP POLICY fleet ON ${table}`);
      await queryRunner.query(`ALTER TABLE ${table} NO FORCE ROW LEVEL SECURITY, DISABLE ROW LEVEL SECURITY`);
    }
  }
}

const MANAGED = [
  'fleets',
  'api_keys',
  'portal_sessions',
  'fleet_portals',
  'webhook_subscriptions',
  'geofences',
  'webhook_replays',
  'idempotency_keys',
  'subscription_operations',
];

const FLEET = "current_setting('waypost.fleet', true)";

/** Days of these are tables of their own; only the projector may use them directly. */
const HISTORY = [
  { table: 'deliveries', isFleet: `fleet_id = ${FLEET}` },
  { table: 'delivery_figures', isFleet: `fleet_id = ${FLEET}` },
  { table: 'path_points', isFleet: `fleet_id = ${FLEET}` },
  // Not by an index: a look-up of one event must not become a walk over all that waits of the fleet.
  { table: 'waiting_deliveries', isFleet: `fleet_id IS NOT DISTINCT FROM ${FLEET}` },
];

const TABLES = [...MANAGED, ...HISTORY.map(({ table }) => table)];
