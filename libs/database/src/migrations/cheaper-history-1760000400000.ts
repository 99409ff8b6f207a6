import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * What a row costs to write: attempts as text, which is put together and read but never searched, and no index for pages
 * without a filter, which are merged from the three statuses (docs/decisions/0018-cost-of-the-projection.md).
 */
export class CheaperHistory1760000400000 implements MigrationInterface {
  readonly name = 'CheaperHistory1760000400000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP INDEX deliveries_by_fleet');
    await queryRunner.query('ALTER TABLE deliveries ALTER COLUMN attempts TYPE text USING attempts::text');
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('ALTER TABLE deliveries ALTER COLUMN attempts TYPE jsonb USING attempts::jsonb');
    await queryRunner.query(
      'CREATE INDEX deliveries_by_fleet ON deliveries (fleet_id, first_attempt_at, event_id, series)',
    );
  }
}
