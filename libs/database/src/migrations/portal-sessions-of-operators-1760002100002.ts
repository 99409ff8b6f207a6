import type { MigrationInterface, QueryRunner } from 'typeorm';

/** A portal session that an operator has created has the id of an admin key in place of an API key. */
export class PortalSessionsOfOperators1760002100002 implements MigrationInterface {
  readonly name = 'PortalSessionsOfOperators1760002100002';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(
      'ALTER TABLE portal_sessions ALTER COLUMN key_id DROP NOT NULL, ADD COLUMN admin_key_id text',
    );
    await queryRunner.query(
      'ALTER TABLE portal_sessions ADD CHECK ((key_id IS NULL) <> (admin_key_id IS NULL)) NOT VALID',
    );
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query("SELECT set_config('waypost.fleet', '*', true)");
    await queryRunner.query('DELETE FROM portal_sessions WHERE key_id IS NULL');
    await queryRunner.query('ALTER TABLE portal_sessions DROP COLUMN admin_key_id, ALTER COLUMN key_id SET NOT NULL');
  }
}
