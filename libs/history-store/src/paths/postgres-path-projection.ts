/** SQL by hand: a batch of points of any size is one COPY and one INSERT, which TypeORM would send row by row. */
import type { PoolClient } from 'pg';
import type { DataSource } from 'typeorm';
import type { PathPoint } from '@waypost/domain';
import { createDailyPartitions, createPartitionCache, type DailyPartitions } from '../partitions/daily-partitions.js';
import type { DailyTable } from '../partitions/daily-table.js';
import { copyIn, CopyRows } from '../projection/binary-copy.js';
import { createProjectionLimiter } from '../projection/projection-limiter.js';
import {
  beginAndMovePosition,
  inTransaction,
  MOVED,
  type PositionMove,
  readPosition,
} from '../projection/projection-transaction.js';
import { type PathProjection, selectPoints } from './path-projection.js';

export interface PathProjectionDeps {
  readonly dataSource: DataSource;
  /** Creates and owns the tables of days. Default: the same. */
  readonly tableOwner?: DataSource;
  readonly now: () => number;
}

const PATH_POINTS: DailyTable = { name: 'path_points', creationLock: 7_215_004, retentionLock: 7_215_005 };

/** Partitions by event time. */
export function createPathPartitions(dataSource: DataSource): DailyPartitions {
  return createDailyPartitions(dataSource, PATH_POINTS);
}

/** The caller applies the batches of one partition one after the other. */
export function createPathProjection({ dataSource, tableOwner = dataSource, now }: PathProjectionDeps): PathProjection {
  const partitions = createPartitionCache(createPathPartitions(tableOwner));
  // Only one at a time: a flood of pings must not take every core of the server from the deliveries.
  const limit = createProjectionLimiter();
  return {
    readPosition: (topic, partition) => readPosition(dataSource, topic, partition),

    async apply(batch) {
      const { points, repeated, ...unwritten } = selectPoints(batch.points, now());
      try {
        await partitions.ensure(points.map(({ eventTime }) => eventTime));
        const stored = await limit(() => inTransaction(dataSource, (client) => writePoints(client, batch, points)));
        if (stored !== null) {
          return { type: 'applied', stored, repeated: repeated + points.length - stored, ...unwritten };
        }
        return { type: 'superseded', storedOffset: await readPosition(dataSource, batch.topic, batch.partition) };
      } catch (error) {
        partitions.clear();
        throw error;
      }
    },
  };
}

const COLUMN_NAMES = [
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
];
const COLUMNS = COLUMN_NAMES.join(', ');

/** A table of the connection; empty between transactions. */
const STAGE = 'CREATE TEMPORARY TABLE IF NOT EXISTS staged_path_points (LIKE path_points) ON COMMIT DELETE ROWS';
const COPY = `COPY staged_path_points (${COLUMNS}) FROM STDIN (FORMAT binary)`;

/** Writes in key order: neighbors in the index are written together, and writers of the same keys cannot deadlock. */
const INSERT = `INSERT INTO path_points (${COLUMNS})
  SELECT ${COLUMNS} FROM staged_path_points ORDER BY fleet_id, device_id, event_time
  ON CONFLICT (fleet_id, device_id, event_time) DO NOTHING`;

/**
 * Begins a transaction that its caller ends. Repeated pings are common, so the points go through a staging table:
 * a COPY into the real one would fail at the first. `points`: no two with the same device and time. Resolves to the
 * number of new points; null: the position is not where the batch begins.
 */
async function writePoints(
  client: PoolClient,
  move: PositionMove,
  points: readonly PathPoint[],
): Promise<number | null> {
  const sql = `${beginAndMovePosition(move)}; ${STAGE}; ${COPY}`;
  const rows = new CopyRows();
  for (const point of points) writeRow(rows, point);
  const results = await copyIn(client, sql, rows.finish());
  if (!results.some((result) => MOVED.includes(result))) return null;
  if (points.length === 0) return 0;
  const { rowCount } = await client.query(INSERT);
  return rowCount ?? 0;
}

function writeRow(rows: CopyRows, point: PathPoint): void {
  rows.startRow(COLUMN_NAMES.length);
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
