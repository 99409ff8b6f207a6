import type { MigrationInterface, QueryRunner } from 'typeorm';
import { createPlainIndexOnline, type OnlineIndex } from './online-index.js';

/** What the limits of keys and portal sessions read while the fleet is locked. */
export class PortalSessionKeys1760002500000 implements MigrationInterface {
  readonly name = 'PortalSessionKeys1760002500000';
  readonly transaction = false;

  async up(queryRunner: QueryRunner): Promise<void> {
    for (const index of INDEXES) await createPlainIndexOnline(queryRunner, index);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP INDEX portal_sessions_by_key, portal_sessions_live');
  }
}

const INDEXES: readonly OnlineIndex[] = [
  // Each key that is deleted is looked for by the foreign key, without the condition of a fleet.
  { name: 'portal_sessions_by_key', table: 'portal_sessions', columns: 'key_id' },
  {
    name: 'portal_sessions_live',
    table: 'portal_sessions',
    columns: 'fleet_id, expires_at, key_id',
    where: 'revoked_at IS NULL',
  },
];
