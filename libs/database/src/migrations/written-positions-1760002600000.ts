import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * What a fleet has written on its last day into the tables that keep versions. In the row that its changes lock
 * anyway; constant defaults cost no rewrite of the table.
 */
export class WrittenPositions1760002600000 implements MigrationInterface {
  readonly name = 'WrittenPositions1760002600000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(
      `ALTER TABLE fleets ADD COLUMN written_day integer NOT NULL DEFAULT 0,
                          ADD COLUMN written_positions integer NOT NULL DEFAULT 0`,
    );
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('ALTER TABLE fleets DROP COLUMN written_day, DROP COLUMN written_positions');
  }
}
