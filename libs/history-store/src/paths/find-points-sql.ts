import type { PathQuery } from '@waypost/domain';
import { instant } from '../history/find-deliveries-sql.js';
import { type PreparedQuery, storableText } from '@waypost/database';

const SELECTED = `fleet_id, device_id, event_time, latitude, longitude, speed_in_kmh, heading, fuel_level,
  odometer_in_meters, rpm, ignition, valid`;

/** The order of the primary key: the days of the window are merged as the page is read, and nothing is sorted. */
const ORDER = 'ORDER BY device_id, event_time';

/**
 * The query of one page. Values are parameters only. In a short window the index is read device by device:
 * what a device has outside the window is skipped.
 */
export function findPointsSql({ fleetId, startAt, endAt, deviceIds, limit, after }: PathQuery): PreparedQuery {
  const parameters: unknown[] = [];
  const parameter = (value: unknown): string => `$${String(parameters.push(value))}`;
  const window = [
    `fleet_id = ${parameter(storableText(fleetId))}`,
    `event_time >= ${parameter(instant(startAt))}`,
    `event_time < ${parameter(instant(endAt))}`,
    ...(deviceIds === undefined ? [] : [`device_id = ANY (${parameter(deviceIds.map(storableText))})`]),
  ].join(' AND ');
  const name = `path_points${deviceIds === undefined ? '' : '_of_devices'}${after === undefined ? '' : '_after'}`;
  const most = `LIMIT ${parameter(limit)}`;
  const pageOf = (conditions: string): string =>
    `SELECT ${SELECTED} FROM path_points WHERE ${conditions} ${ORDER} ${most}`;
  if (after === undefined) return { name, text: pageOf(window), parameters };

  // Not as one comparison of rows: that would read all of every further device's day instead of its window.
  const device = parameter(storableText(after.deviceId));
  const rest = pageOf(`${window} AND device_id = ${device} AND event_time > ${parameter(instant(after.eventTime))}`);
  const others = pageOf(`${window} AND device_id > ${device}`);
  return { name, text: `SELECT * FROM ((${rest}) UNION ALL (${others})) AS page ${ORDER} ${most}`, parameters };
}
