import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Fleets, API keys, webhook subscriptions and the outbox. */
export class ManagementTables1760000100000 implements MigrationInterface {
  readonly name = 'ManagementTables1760000100000';

  async up(queryRunner: QueryRunner): Promise<void> {
    for (const statement of UP) await queryRunner.query(statement);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP TABLE outbox, webhook_subscriptions, api_keys, fleets');
  }
}

const UP = [
  `CREATE TABLE fleets (
     fleet_id text PRIMARY KEY,
     payload_format text NOT NULL,
     version integer NOT NULL,
     created_at timestamptz(3) NOT NULL,
     updated_at timestamptz(3) NOT NULL
   )`,
  `CREATE TABLE api_keys (
     id uuid PRIMARY KEY,
     fleet_id text NOT NULL REFERENCES fleets (fleet_id),
     hash bytea NOT NULL UNIQUE,
     scopes text[] NOT NULL,
     created_at timestamptz(3) NOT NULL,
     revoked_at timestamptz(3)
   )`,
  'CREATE INDEX api_keys_by_fleet ON api_keys (fleet_id)',
  `CREATE TABLE webhook_subscriptions (
     id uuid PRIMARY KEY,
     fleet_id text NOT NULL REFERENCES fleets (fleet_id),
     event_type text NOT NULL,
     url text NOT NULL,
     status text NOT NULL,
     disabled_reason text,
     payload_format text NOT NULL,
     device_ids text[],
     auth jsonb,
     rate_limit_per_second integer,
     on_outage text NOT NULL,
     strict_order boolean NOT NULL,
     secrets jsonb NOT NULL,
     version integer NOT NULL,
     created_at timestamptz(3) NOT NULL,
     updated_at timestamptz(3) NOT NULL,
     CONSTRAINT webhook_subscriptions_one_per_type UNIQUE (fleet_id, event_type, url)
   )`,
  'CREATE INDEX webhook_subscriptions_page ON webhook_subscriptions (fleet_id, created_at, id)',
  `CREATE TABLE outbox (
     id bigserial PRIMARY KEY,
     kind text NOT NULL,
     key text NOT NULL,
     value jsonb,
     created_at timestamptz(3) NOT NULL,
     published_at timestamptz(3)
   )`,
  // The publisher reads only what waits; the index stays as small as that.
  'CREATE INDEX outbox_waiting ON outbox (id) WHERE published_at IS NULL',
  'CREATE INDEX outbox_published ON outbox (published_at) WHERE published_at IS NOT NULL',
];
