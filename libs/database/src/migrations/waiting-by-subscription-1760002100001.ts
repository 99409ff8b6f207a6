import type { MigrationInterface, QueryRunner } from 'typeorm';
import { createIndexOnline } from './online-index.js';

/** What waits of one subscription, for its health. */
export class WaitingBySubscription1760002100001 implements MigrationInterface {
  readonly name = 'WaitingBySubscription1760002100001';
  readonly transaction = false;

  async up(queryRunner: QueryRunner): Promise<void> {
    await createIndexOnline(queryRunner, {
      name: 'waiting_deliveries_by_subscription',
      table: 'waiting_deliveries',
      columns: 'subscription_id, created_at, event_id, series',
    });
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP INDEX waiting_deliveries_by_subscription');
  }
}
