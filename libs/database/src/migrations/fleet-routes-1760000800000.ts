import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Routes and stops only for fleets that want them: those that have subscribed to them already do. */
export class FleetRoutes1760000800000 implements MigrationInterface {
  readonly name = 'FleetRoutes1760000800000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('ALTER TABLE fleets ADD COLUMN routes boolean NOT NULL DEFAULT false');
    await queryRunner.query(TURN_ON);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('ALTER TABLE fleets DROP COLUMN routes');
  }
}

/** Like a change by the API: telemetry-processor reads it from the outbox. */
const TURN_ON = `
  WITH turned_on AS (
    UPDATE fleets SET routes = true, version = version + 1, updated_at = now()
    WHERE fleet_id IN (
      SELECT fleet_id FROM webhook_subscriptions
      WHERE event_type IN ('route_started', 'route_finished', 'stop_started', 'stop_finished')
    )
    RETURNING *
  )
  INSERT INTO outbox (kind, key, value, created_at)
  SELECT 'fleet-settings', fleet_id, jsonb_build_object(
    'fleetId', fleet_id,
    'name', name,
    'payloadFormat', payload_format,
    'routes', routes,
    'version', version,
    'createdAt', (extract(epoch FROM created_at) * 1000)::bigint,
    'updatedAt', (extract(epoch FROM updated_at) * 1000)::bigint
  ), updated_at
  FROM turned_on`;
