/** SQL by hand: figures are appended where they are stored, which TypeORM cannot express. */
import type { PoolClient } from 'pg';
import type { DataSource } from 'typeorm';
import {
  createDailyPartitions,
  type DailyPartitions,
  partitionName as partitionNameOf,
} from '../partitions/daily-partitions.js';
import { type DailyTable, groupByDay } from '../partitions/daily-table.js';
import { type CountedFigures, FIGURE_STEPS, ROW_STEPS } from './figure-cells.js';
import { summed } from './figures.js';
import { packFigures } from './packed-figures.js';
import { minutesOf, type PackedMinutes, packedSumOf, packMinutes } from './packed-minutes.js';

const FIGURES: DailyTable = { name: 'delivery_figures', creationLock: 7_215_006, retentionLock: 7_215_007 };

export function createFigurePartitions(dataSource: DataSource): DailyPartitions {
  return createDailyPartitions(dataSource, FIGURES);
}

/** A row: the counts of one subscription and event type in a bucket. */
export interface StoredFigures {
  readonly fleetId: string;
  readonly subscriptionId: string;
  readonly eventType: string;
  readonly startAt: number;
  /** Packed figures, one after another. */
  readonly figures: string;
  readonly minutes: PackedMinutes;
}

interface Place {
  readonly table: string;
  readonly partition: number;
}

/** The rows that the counts add to: packing takes a while, so it happens before the transaction. */
export function figureRows(counted: CountedFigures): StoredFigures[] {
  return counted.all().map(({ minutes, ...key }) => {
    const packed = [...minutes].map(([minute, figures]) => [minute, packFigures(summed(figures))] as const);
    return { ...key, figures: '', minutes: packMinutes(packed) };
  });
}

/**
 * Adds the changes of a batch to the figures, in the batch's transaction. A row belongs to one partition of the
 * log, so the lock on the position is the only one that writers wait for, and rows read here do not change.
 *
 * The row of the day takes the minutes of the batch. Once it has many, they move to the rows of their hours: a
 * subscription with few deliveries has a row per day, and one with many rarely adds to its hours.
 *
 * @param added rows of days; several of them may be the same row
 */
export async function writeFigures(
  client: PoolClient,
  partition: number,
  added: readonly StoredFigures[],
): Promise<void> {
  // Sorted by time, the order in which everything locks these tables.
  const byDay = [...groupByDay(joined(added), ({ startAt }) => startAt)].sort(([, [a]], [, [b]]) =>
    a === undefined || b === undefined ? 0 : a.startAt - b.startAt,
  );
  for (const [dayMs, days] of byDay) {
    const place = { table: partitionNameOf(FIGURES.name, dayMs), partition };
    const full = await append(client, { ...place, step: 'day' }, days);
    const split = full.map(splitDay);
    await rewrite(
      client,
      { ...place, step: 'day' },
      split.map(({ day }) => day),
    );
    const hours = split.flatMap((of) => of.hours);
    const long = await append(client, { ...place, step: 'hour' }, hours);
    await rewrite(client, { ...place, step: 'hour' }, long.map(shortened));
  }
}

/** A statement can add to each row only once. */
function joined(rows: readonly StoredFigures[]): StoredFigures[] {
  const byKey = new Map<string, StoredFigures>();
  for (const row of rows) {
    const key = `${row.subscriptionId}/${String(row.startAt)}/${row.eventType}/${row.fleetId}`;
    const known = byKey.get(key);
    byKey.set(key, known === undefined ? row : { ...known, minutes: known.minutes + row.minutes });
  }
  return [...byKey.values()];
}

const HOUR_MINUTES = FIGURE_STEPS.hour;
const HOUR_MS = HOUR_MINUTES * 60_000;

/** Moves the minutes of a day to its hours, unless there are few: a batch often adds to an existing minute. */
function splitDay(day: StoredFigures): { readonly day: StoredFigures; readonly hours: readonly StoredFigures[] } {
  const minutes = minutesOf(day.minutes);
  const summedMinutes = packMinutes(minutes);
  if (summedMinutes.length <= ROOM.day.minutes.bytes / 2) return { day: { ...day, minutes: summedMinutes }, hours: [] };
  const ofHours = new Map<number, [number, string][]>();
  for (const [minute, figures] of minutes) {
    const hour = Math.floor(minute / HOUR_MINUTES);
    const entry: [number, string] = [minute - hour * HOUR_MINUTES, figures];
    const known = ofHours.get(hour);
    if (known === undefined) ofHours.set(hour, [entry]);
    else known.push(entry);
  }
  const hours = [...ofHours].map(([hour, of]) => {
    const packed = packMinutes(of);
    return { ...day, startAt: day.startAt + hour * HOUR_MS, figures: packedSumOf(packed), minutes: packed };
  });
  return { day: { ...day, figures: packedSumOf(day.figures + summedMinutes), minutes: '' }, hours };
}

function shortened(hour: StoredFigures): StoredFigures {
  return { ...hour, figures: packedSumOf(hour.figures), minutes: packMinutes(minutesOf(hour.minutes)) };
}

interface RowsPlace extends Place {
  readonly step: 'hour' | 'day';
}

/**
 * Bytes and parts beyond which the parts of a row are summed. Every batch rewrites the rows of days, so they keep few
 * minutes; their figures are already one sum. The figures of hours are read by the thousand; their sixty minutes may
 * each be long, so summing must remove at least half of the parts.
 */
const ROOM = {
  day: { figures: { bytes: 1_000_000, parts: 0 }, minutes: { bytes: 1_200, parts: 0 } },
  hour: { figures: { bytes: 600, parts: 8 }, minutes: { bytes: 8_000, parts: 120 } },
} as const;

/** Whether a column is beyond its room. Its bytes are known without reading it. */
function isLong(column: 'figures' | 'minutes', bytes: string, parts: string): string {
  const parted = `(octet_length(${column}) - octet_length(replace(${column}, ']]', ''))) / 2`;
  return `CASE WHEN octet_length(${column}) > ${bytes} THEN ${parted} > ${parts} ELSE false END`;
}

/** Adds rows to the stored ones; resolves to the complete rows that have become long. */
async function append(client: PoolClient, { table, partition, step }: RowsPlace, rows: readonly StoredFigures[]) {
  if (rows.length === 0) return [];
  const { figures, minutes } = ROOM[step];
  const { rows: long } = await client.query<Omit<StoredFigures, 'startAt'> & { readonly startAt: Date }>({
    name: `append ${table}`,
    text: `
      WITH stored AS (
        INSERT INTO ${table} AS f (${KEY}, figures, minutes, step, partition)
        SELECT b.*, $7::integer, $8::integer FROM ${ROWS} AS b
        ON CONFLICT (fleet_id, step, bucket_at, subscription_id, event_type, partition) DO UPDATE
           SET figures = f.figures || excluded.figures, minutes = f.minutes || excluded.minutes
        RETURNING ${KEY}, figures, minutes)
      SELECT fleet_id AS "fleetId", bucket_at AS "startAt", subscription_id AS "subscriptionId",
             event_type AS "eventType", figures, minutes
        FROM stored WHERE ${isLong('figures', '$9', '$10')} OR ${isLong('minutes', '$11', '$12')}`,
    values: [
      ...columnsOf(rows),
      ...[ROW_STEPS[step], partition],
      ...[figures.bytes, figures.parts, minutes.bytes, minutes.parts],
    ],
  });
  return long.map((row): StoredFigures => ({ ...row, startAt: row.startAt.getTime() }));
}

async function rewrite(client: PoolClient, { table, partition, step }: RowsPlace, rows: readonly StoredFigures[]) {
  if (rows.length === 0) return;
  await client.query({
    name: `rewrite ${table}`,
    text: `
      UPDATE ${table} AS f SET figures = b.figures, minutes = b.minutes
        FROM ${ROWS} AS b (${KEY}, figures, minutes)
       WHERE f.fleet_id = b.fleet_id AND f.step = $7 AND f.bucket_at = b.bucket_at
         AND f.subscription_id = b.subscription_id AND f.event_type = b.event_type AND f.partition = $8`,
    values: [...columnsOf(rows), ROW_STEPS[step], partition],
  });
}

const KEY = 'fleet_id, bucket_at, subscription_id, event_type';
const ROWS = 'unnest($1::text[], $2::timestamptz[], $3::text[], $4::text[], $5::text[], $6::text[])';

function columnsOf(rows: readonly StoredFigures[]): unknown[] {
  const sorted = rows.toSorted(inOrderOfKey);
  return [
    sorted.map(({ fleetId }) => fleetId),
    sorted.map(({ startAt }) => new Date(startAt).toISOString()),
    sorted.map(({ subscriptionId }) => subscriptionId),
    sorted.map(({ eventType }) => eventType),
    sorted.map(({ figures }) => figures),
    sorted.map(({ minutes }) => minutes),
  ];
}

/** Orders rows so that neighbors in the index are written together. */
function inOrderOfKey(a: StoredFigures, b: StoredFigures): number {
  if (a.fleetId !== b.fleetId) return a.fleetId < b.fleetId ? -1 : 1;
  if (a.startAt !== b.startAt) return a.startAt - b.startAt;
  return a.subscriptionId < b.subscriptionId ? -1 : 1;
}
