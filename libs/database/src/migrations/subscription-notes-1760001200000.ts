import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What the owner of a subscription writes about it. Constant defaults cost no rewrite of the table. */
export class SubscriptionNotes1760001200000 implements MigrationInterface {
  readonly name = 'SubscriptionNotes1760001200000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(
      "ALTER TABLE webhook_subscriptions ADD COLUMN description text, ADD COLUMN metadata jsonb NOT NULL DEFAULT '{}'",
    );
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('ALTER TABLE webhook_subscriptions DROP COLUMN description, DROP COLUMN metadata');
  }
}
