import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Headers that the owner of a subscription adds to its deliveries. */
export class SubscriptionHeaders1760001201000 implements MigrationInterface {
  readonly name = 'SubscriptionHeaders1760001201000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query("ALTER TABLE webhook_subscriptions ADD COLUMN headers jsonb NOT NULL DEFAULT '[]'");
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('ALTER TABLE webhook_subscriptions DROP COLUMN headers');
  }
}
