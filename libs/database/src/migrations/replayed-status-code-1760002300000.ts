import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Replays of what was answered with one status code. Without a default the column costs no rewrite of the table. */
export class ReplayedStatusCode1760002300000 implements MigrationInterface {
  readonly name = 'ReplayedStatusCode1760002300000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('ALTER TABLE webhook_replays ADD COLUMN status_code integer');
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('ALTER TABLE webhook_replays DROP COLUMN status_code');
  }
}
