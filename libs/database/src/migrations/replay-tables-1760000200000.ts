import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Replays of subscriptions, and the partition of what the outbox publishes to a topic of several. */
export class ReplayTables1760000200000 implements MigrationInterface {
  readonly name = 'ReplayTables1760000200000';

  async up(queryRunner: QueryRunner): Promise<void> {
    for (const statement of UP) await queryRunner.query(statement);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP TABLE webhook_replays, webhook_replay_series');
    await queryRunner.query('ALTER TABLE outbox DROP COLUMN partition_key');
  }
}

const UP = [
  'ALTER TABLE outbox ADD COLUMN partition_key text',
  // Outlives the replays: a series is never given twice.
  `CREATE TABLE webhook_replay_series (
     subscription_id uuid PRIMARY KEY,
     last_series integer NOT NULL
   )`,
  // The progress columns repeat webhook-delivery.replay-progress and can be filled from it again.
  `CREATE TABLE webhook_replays (
     replay_id uuid PRIMARY KEY,
     subscription_id uuid NOT NULL,
     fleet_id text NOT NULL,
     series integer NOT NULL,
     start_date timestamptz(3) NOT NULL,
     end_date timestamptz(3) NOT NULL,
     status text,
     event_type text,
     device_id text,
     rate_per_second integer NOT NULL,
     cancelled boolean NOT NULL,
     version integer NOT NULL,
     created_at timestamptz(3) NOT NULL,
     updated_at timestamptz(3) NOT NULL,
     progress_state text,
     matched bigint,
     sent bigint NOT NULL DEFAULT 0,
     started_at timestamptz(3),
     progress_at timestamptz(3),
     CONSTRAINT webhook_replays_series UNIQUE (subscription_id, series),
     CHECK (progress_state IN ('running', 'completed', 'cancelled'))
   )`,
  'CREATE INDEX webhook_replays_by_age ON webhook_replays (created_at)',
];
