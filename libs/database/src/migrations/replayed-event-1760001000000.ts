import type { MigrationInterface, QueryRunner } from 'typeorm';

/** A replay of one event. Without a default the column costs no rewrite of the table. */
export class ReplayedEvent1760001000000 implements MigrationInterface {
  readonly name = 'ReplayedEvent1760001000000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('ALTER TABLE webhook_replays ADD COLUMN event_id uuid');
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('ALTER TABLE webhook_replays DROP COLUMN event_id');
  }
}
