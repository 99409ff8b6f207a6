import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * The figures of deliveries by fleet, minutes of the step, start of the bucket, subscription, event type and
 * partition of the log. Ids compare by their bytes, which is cheaper. See libs/history-store/README.md.
 */
export class DeliveryFigures1760000900000 implements MigrationInterface {
  readonly name = 'DeliveryFigures1760000900000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(
      `CREATE TABLE delivery_figures (
         bucket_at timestamptz(3) NOT NULL,
         step integer NOT NULL,
         partition integer NOT NULL,
         fleet_id text COLLATE "C" NOT NULL,
         subscription_id text COLLATE "C" NOT NULL,
         event_type text COLLATE "C" NOT NULL,
         figures text NOT NULL,
         PRIMARY KEY (fleet_id, step, bucket_at, subscription_id, event_type, partition)
       ) PARTITION BY RANGE (bucket_at)`,
    );
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP TABLE delivery_figures');
  }
}
