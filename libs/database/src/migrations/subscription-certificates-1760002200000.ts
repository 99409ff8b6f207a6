import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Client certificates of subscriptions: the chain, and its key sealed. */
export class SubscriptionCertificates1760002200000 implements MigrationInterface {
  readonly name = 'SubscriptionCertificates1760002200000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('ALTER TABLE webhook_subscriptions ADD COLUMN client_certificate jsonb');
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('ALTER TABLE webhook_subscriptions DROP COLUMN client_certificate');
  }
}
