import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The replay that made a delivery. Without a default the column costs no rewrite of the table. */
export class DeliveriesByReplay1760001100000 implements MigrationInterface {
  readonly name = 'DeliveriesByReplay1760001100000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('ALTER TABLE deliveries ADD COLUMN replay_id text');
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('ALTER TABLE deliveries DROP COLUMN replay_id');
  }
}
