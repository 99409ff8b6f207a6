import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Until when each partition of the attempt log is projected; null: not known since a rebuild. */
export class DeliveryProgress1760001100001 implements MigrationInterface {
  readonly name = 'DeliveryProgress1760001100001';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(
      `CREATE TABLE delivery_progress (
         partition integer PRIMARY KEY,
         complete_until timestamptz(3)
       )`,
    );
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP TABLE delivery_progress');
  }
}
