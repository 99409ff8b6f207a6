import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What waits of one subscription, for its health. The table has only what waits, so its days are soon indexed. */
export class WaitingBySubscription1760002100001 implements MigrationInterface {
  readonly name = 'WaitingBySubscription1760002100001';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(
      `CREATE INDEX waiting_deliveries_by_subscription
         ON waiting_deliveries (subscription_id, created_at, event_id, series)`,
    );
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP INDEX waiting_deliveries_by_subscription');
  }
}
