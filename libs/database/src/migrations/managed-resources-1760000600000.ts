import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Geofences, the names of fleets and keys, and the answers of requests with an idempotency key. */
export class ManagedResources1760000600000 implements MigrationInterface {
  readonly name = 'ManagedResources1760000600000';

  async up(queryRunner: QueryRunner): Promise<void> {
    for (const statement of UP) await queryRunner.query(statement);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    for (const statement of DOWN) await queryRunner.query(statement);
  }
}

const UP = [
  'ALTER TABLE fleets ADD COLUMN name text',
  // The first characters of a key, which identify it in lists; unknown for keys made before.
  'ALTER TABLE api_keys ADD COLUMN name text, ADD COLUMN prefix text',
  'DROP INDEX api_keys_by_fleet',
  'CREATE INDEX api_keys_page ON api_keys (fleet_id, created_at, id)',
  `CREATE TABLE geofences (
     geofence_id uuid PRIMARY KEY,
     fleet_id text NOT NULL REFERENCES fleets (fleet_id),
     name text NOT NULL,
     circle jsonb,
     polygon jsonb,
     version integer NOT NULL,
     created_at timestamptz(3) NOT NULL,
     updated_at timestamptz(3) NOT NULL,
     CHECK ((circle IS NULL) <> (polygon IS NULL))
   )`,
  'CREATE INDEX geofences_page ON geofences (fleet_id, created_at, geofence_id)',
  // No reference to fleets, so that a refill of a lost database needs no order.
  `CREATE TABLE idempotency_keys (
     fleet_id text NOT NULL,
     route text NOT NULL,
     key text NOT NULL,
     sealed text NOT NULL,
     outbox_ids bigint[] NOT NULL,
     created_at timestamptz(3) NOT NULL,
     PRIMARY KEY (fleet_id, route, key)
   )`,
  'CREATE INDEX idempotency_keys_by_age ON idempotency_keys (created_at)',
];

const DOWN = [
  'DROP TABLE idempotency_keys, geofences',
  'DROP INDEX api_keys_page',
  'CREATE INDEX api_keys_by_fleet ON api_keys (fleet_id)',
  'ALTER TABLE api_keys DROP COLUMN name, DROP COLUMN prefix',
  'ALTER TABLE fleets DROP COLUMN name',
];
