import type { PathPoint } from '@waypost/domain';
import type { PoolClient } from 'pg';
import { copyIn } from '../history/copy-in.js';
import { CopyRows } from '../history/copy-rows.js';
import { beginAndMovePosition, MOVED, type PositionMove } from '../history/projection-position.js';

const COLUMNS = [
  'event_time',
  'latitude',
  'longitude',
  'speed_in_kmh',
  'heading',
  'fuel_level',
  'odometer_in_meters',
  'rpm',
  'ignition',
  'valid',
  'fleet_id',
  'device_id',
].join(', ');

const COLUMN_COUNT = COLUMNS.split(',').length;

/** Of the connection; empty between transactions. */
const STAGE = 'CREATE TEMPORARY TABLE IF NOT EXISTS staged_path_points (LIKE path_points) ON COMMIT DELETE ROWS';
const COPY = `COPY staged_path_points (${COLUMNS}) FROM STDIN (FORMAT binary)`;

/** In key order: neighbours in the index are written together, and writers who share keys wait instead of locking up. */
const INSERT = `INSERT INTO path_points (${COLUMNS})
  SELECT ${COLUMNS} FROM staged_path_points ORDER BY fleet_id, device_id, event_time
  ON CONFLICT (fleet_id, device_id, event_time) DO NOTHING`;

/**
 * Moves the position and adds the points that are not stored yet, in a transaction that it begins and its caller ends.
 * Repeated pings are ordinary, so the points go through a table of the connection, where a COPY into the real one
 * would fail at the first of them. Resolves to the number of new points; null: the position is not where the batch begins.
 *
 * @param points no two of one device and time
 */
export async function writePoints(
  client: PoolClient,
  move: PositionMove,
  points: readonly PathPoint[],
): Promise<number | null> {
  const sql = `${beginAndMovePosition(move)}; ${STAGE}; ${COPY}`;
  const results = await copyIn(client, sql, pointRows(points));
  if (!results.some((result) => MOVED.includes(result))) return null;
  if (points.length === 0) return 0;
  const { rowCount } = await client.query(INSERT);
  return rowCount ?? 0;
}

/** The data of COPY. */
function pointRows(points: readonly PathPoint[]): Buffer {
  const rows = new CopyRows();
  for (const point of points) writeRow(rows, point);
  return rows.finish();
}

/** In the order of COLUMNS. */
function writeRow(rows: CopyRows, point: PathPoint): void {
  rows.startRow(COLUMN_COUNT);
  rows.timestamp(point.eventTime);
  rows.double(point.latitude);
  rows.double(point.longitude);
  rows.double(point.speedInKmh);
  rows.double(point.heading);
  rows.double(point.fuelLevel);
  rows.bigint(point.odometerInMeters);
  rows.integer(point.rpm);
  rows.boolean(point.ignition);
  rows.boolean(point.valid);
  rows.text(point.fleetId);
  rows.text(point.deviceId);
}
