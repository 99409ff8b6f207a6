import type { MigrationInterface, QueryRunner } from 'typeorm';
import { createPlainIndexOnline } from './online-index.js';

/** What the limit of replays of a day reads while the fleet is locked. */
export class ReplaysByFleet1760002600001 implements MigrationInterface {
  readonly name = 'ReplaysByFleet1760002600001';
  readonly transaction = false;

  async up(queryRunner: QueryRunner): Promise<void> {
    const index = { name: 'webhook_replays_by_fleet', table: 'webhook_replays', columns: 'fleet_id, created_at' };
    await createPlainIndexOnline(queryRunner, index);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP INDEX webhook_replays_by_fleet');
  }
}
