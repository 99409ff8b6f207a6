import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * The minutes of hours and days, in their rows instead of rows of their own (docs/decisions/0074-figures-in-fewer-rows.md).
 * These rows have step numbers of their own: the version before, which may run beside this one, sees only its rows, and
 * they are still read.
 */
export class FiguresOfMinutes1760002400000 implements MigrationInterface {
  readonly name = 'FiguresOfMinutes1760002400000';

  async up(queryRunner: QueryRunner): Promise<void> {
    // The view first, as its readers do, and what it reads with it: the other way round both would wait for each other.
    await queryRunner.query('LOCK TABLE fleet_delivery_figures IN ACCESS EXCLUSIVE MODE');
    await queryRunner.query("ALTER TABLE delivery_figures ADD COLUMN minutes text NOT NULL DEFAULT ''");
    // A view has the columns that the table had when the view was made.
    await queryRunner.query(
      `CREATE OR REPLACE VIEW fleet_delivery_figures AS
         SELECT * FROM delivery_figures WHERE fleet_id = current_setting('waypost.fleet', true)`,
    );
  }

  /** Minutes that are only in the new column are lost: `waypost rebuild` counts them again. */
  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP VIEW fleet_delivery_figures');
    await queryRunner.query('ALTER TABLE delivery_figures DROP COLUMN minutes');
    await queryRunner.query(
      `CREATE VIEW fleet_delivery_figures AS
         SELECT * FROM delivery_figures WHERE fleet_id = current_setting('waypost.fleet', true)`,
    );
  }
}
