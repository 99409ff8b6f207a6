import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Deliveries by day of their first attempt, and how far each partition of the log is projected. Every index is created
 * on the parent, so each day gets its own. See libs/history-store/README.md for what each one is for.
 */
export class HistoryTables1760000000000 implements MigrationInterface {
  readonly name = 'HistoryTables1760000000000';

  async up(queryRunner: QueryRunner): Promise<void> {
    for (const statement of UP) await queryRunner.query(statement);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP TABLE deliveries, projection_positions');
  }
}

const KEYSET = 'first_attempt_at, event_id, series';

const UP = [
  `CREATE TABLE deliveries (
     event_id uuid NOT NULL,
     first_attempt_at timestamptz(3) NOT NULL,
     last_attempt_at timestamptz(3) NOT NULL,
     event_time timestamptz(3) NOT NULL,
     created_at timestamptz(3) NOT NULL,
     delivered_at timestamptz(3),
     next_attempt_at timestamptz(3),
     series integer NOT NULL,
     status_code integer,
     last_attempt integer NOT NULL,
     fleet_id text NOT NULL,
     device_id text NOT NULL,
     subscription_id text NOT NULL,
     event_type text NOT NULL,
     format text NOT NULL,
     status text NOT NULL,
     url text NOT NULL,
     body text NOT NULL,
     attempts jsonb NOT NULL,
     PRIMARY KEY (event_id, series, first_attempt_at),
     CHECK (status IN ('pending', 'delivered', 'failed'))
   ) PARTITION BY RANGE (first_attempt_at)`,
  `CREATE INDEX deliveries_by_fleet ON deliveries (fleet_id, ${KEYSET})`,
  `CREATE INDEX deliveries_by_event_type ON deliveries (fleet_id, event_type, ${KEYSET})`,
  `CREATE INDEX deliveries_by_device ON deliveries (fleet_id, device_id, ${KEYSET})`,
  `CREATE INDEX deliveries_by_subscription ON deliveries (fleet_id, subscription_id, ${KEYSET})`,
  `CREATE INDEX deliveries_by_status ON deliveries (fleet_id, status, ${KEYSET})`,
  // Delivered means 2xx, so that a look-up of a 2xx goes by status; most deliveries need no entry here.
  `CREATE INDEX deliveries_by_status_code ON deliveries (fleet_id, status_code, ${KEYSET})
     WHERE status <> 'delivered'`,
  `CREATE TABLE projection_positions (
     topic text NOT NULL,
     partition integer NOT NULL,
     next_offset bigint NOT NULL,
     PRIMARY KEY (topic, partition)
   )`,
];
