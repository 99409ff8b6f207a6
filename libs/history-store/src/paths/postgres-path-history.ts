/** SQL by hand: a keyset page reads ordered ranges of the primary key, which its text enforces. */
import { type PageSource, type PreparedQuery, storableText } from '@waypost/database';
import type { PathHistory, PathPoint, PathQuery } from '@waypost/domain';
import { instant } from '../sql/instant.js';
import { SqlParameters } from '../sql/sql-parameters.js';

/** The paths in PostgreSQL. Every page is one statement, and page 1,000 costs what page 1 costs. */
export function createPathHistory({ pages }: { readonly pages: PageSource }): PathHistory {
  return {
    async findPoints(query) {
      const rows = await pages.read<PointRow>(query.fleetId, findPointsSql(query));
      return rows.map(toPoint);
    },
  };
}

const SELECTED = `fleet_id, device_id, event_time, latitude, longitude, speed_in_kmh, heading, fuel_level,
  odometer_in_meters, rpm, ignition, valid`;

/** The order of the primary key: the days of the window are merged while they are read, and nothing is sorted. */
const ORDER = 'ORDER BY device_id, event_time';

/** In a short window the index is read device by device, skipping points outside the window. */
export function findPointsSql({ fleetId, startAt, endAt, deviceIds, limit, after }: PathQuery): PreparedQuery {
  const parameters = new SqlParameters();
  const window = [
    `fleet_id = ${parameters.add(storableText(fleetId))}`,
    `event_time >= ${parameters.add(instant(startAt))}`,
    `event_time < ${parameters.add(instant(endAt))}`,
    ...parameters.addIfGiven(deviceIds?.map(storableText), (devices) => `device_id = ANY (${devices})`),
  ].join(' AND ');
  const name = `path_points${deviceIds === undefined ? '' : '_of_devices'}${after === undefined ? '' : '_after'}`;
  const most = parameters.add(limit);
  const pageOf = (conditions: string): string =>
    `SELECT ${SELECTED} FROM fleet_path_points WHERE ${conditions} ${ORDER} LIMIT ${most}`;
  if (after === undefined) return { name, text: pageOf(window), parameters: parameters.values };

  // Not one row comparison, which would read each following device's whole day instead of its window.
  const device = parameters.add(storableText(after.deviceId));
  const time = parameters.add(instant(after.eventTime));
  const rest = pageOf(`${window} AND device_id = ${device} AND event_time > ${time}`);
  const others = pageOf(`${window} AND device_id > ${device}`);
  const text = `SELECT * FROM ((${rest}) UNION ALL (${others})) AS page ${ORDER} LIMIT ${most}`;
  return { name, text, parameters: parameters.values };
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
  /** pg reads a bigint as text. */
  readonly odometer_in_meters: string | null;
  readonly rpm: number | null;
  readonly ignition: boolean | null;
  readonly valid: boolean;
}

function toPoint(row: PointRow): PathPoint {
  return {
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
  };
}
