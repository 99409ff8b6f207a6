import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Path points by day of their event time. The one index serves identity and pages; ids compare by their bytes, whatever
 * the database's own order is, so that a walk goes on where it stopped. See libs/history-store/README.md.
 */
export class PathTables1760000500000 implements MigrationInterface {
  readonly name = 'PathTables1760000500000';

  async up(queryRunner: QueryRunner): Promise<void> {
    // Wide columns first: so no row is padded.
    await queryRunner.query(
      `CREATE TABLE path_points (
         event_time timestamptz(3) NOT NULL,
         latitude double precision,
         longitude double precision,
         speed_in_kmh double precision,
         heading double precision,
         fuel_level double precision,
         odometer_in_meters bigint,
         rpm integer,
         ignition boolean,
         valid boolean NOT NULL,
         fleet_id text COLLATE "C" NOT NULL,
         device_id text COLLATE "C" NOT NULL,
         PRIMARY KEY (fleet_id, device_id, event_time)
       ) PARTITION BY RANGE (event_time)`,
    );
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP TABLE path_points');
  }
}
