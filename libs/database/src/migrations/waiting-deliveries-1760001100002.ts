import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Deliveries that wait for their first attempt, by day of their creation (docs/decisions/0046-waiting-deliveries.md). */
export class WaitingDeliveries1760001100002 implements MigrationInterface {
  readonly name = 'WaitingDeliveries1760001100002';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(
      `CREATE TABLE waiting_deliveries (
         event_id uuid NOT NULL,
         created_at timestamptz(3) NOT NULL,
         event_time timestamptz(3) NOT NULL,
         series integer NOT NULL,
         fleet_id text NOT NULL,
         device_id text NOT NULL,
         subscription_id text NOT NULL,
         event_type text NOT NULL,
         format text NOT NULL,
         replay_id text,
         body text NOT NULL,
         PRIMARY KEY (event_id, series, created_at)
       ) PARTITION BY RANGE (created_at)`,
    );
    await queryRunner.query(
      'CREATE INDEX waiting_deliveries_by_fleet ON waiting_deliveries (fleet_id, created_at, event_id, series)',
    );
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP TABLE waiting_deliveries');
  }
}
