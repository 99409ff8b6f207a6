import type { PathHistory, PathPoint } from '@waypost/domain';
import type { PageSource } from '@waypost/database';
import { findPointsSql } from './find-points-sql.js';

/** The paths as PostgreSQL holds them. A page costs one statement, whatever page it is. */
export function createPathHistory({ pages }: { readonly pages: PageSource }): PathHistory {
  return {
    async findPoints(query) {
      const rows = await pages.read<PointRow>(findPointsSql(query));
      return rows.map(toPoint);
    },
  };
}

interface PointRow {
  readonly fleet_id: string;
  readonly device_id: string;
  readonly event_time: Date;
  readonly latitude: number | null;
  readonly longitude: number | null;
  readonly speed_in_kmh: number | null;
  readonly heading: number | null;
  readonly fuel_level: number | null;
  /** A bigint comes as text. */
  readonly odometer_in_meters: string | null;
  readonly rpm: number | null;
  readonly ignition: boolean | null;
  readonly valid: boolean;
}

const toPoint = (row: PointRow): PathPoint => ({
  fleetId: row.fleet_id,
  deviceId: row.device_id,
  eventTime: row.event_time.getTime(),
  latitude: row.latitude,
  longitude: row.longitude,
  speedInKmh: row.speed_in_kmh,
  heading: row.heading,
  ignition: row.ignition,
  odometerInMeters: row.odometer_in_meters === null ? null : Number(row.odometer_in_meters),
  rpm: row.rpm,
  fuelLevel: row.fuel_level,
  valid: row.valid,
});
