/** SQL by hand: the cells of a batch are read with one statement per day and written with two, which TypeORM would send row by row. */
import type { PoolClient } from 'pg';
import type { DataSource } from 'typeorm';
import {
  createDailyPartitions,
  type DailyPartitions,
  partitionName as partitionNameOf,
} from '../partitions/daily-partitions.js';
import { type DailyTable, groupByDay } from '../partitions/daily-table.js';
import { copyIn, CopyRows } from '../projection/binary-copy.js';
import { FIGURE_STEPS, type FigureCell, figureCells, type WrittenDelivery } from './figure-cells.js';
import { addFigures } from './figures.js';
import { PackedSum, packFigures } from './packed-figures.js';

const FIGURES: DailyTable = { name: 'delivery_figures', creationLock: 7_215_006, retentionLock: 7_215_007 };

export function createFigurePartitions(dataSource: DataSource): DailyPartitions {
  return createDailyPartitions(dataSource, FIGURES);
}

/**
 * Adds what a batch has changed to the figures, in the batch's transaction. A row belongs to one partition of the
 * log, so the lock on the position is the only one that writers wait for, and what is read here stays as it is.
 */
export async function writeFigures(
  client: PoolClient,
  partition: number,
  written: readonly WrittenDelivery[],
): Promise<void> {
  const days = groupByDay(figureCells(written), ({ startAt }) => startAt);
  for (const [day, cells] of days)
    await writeDay(client, { table: partitionNameOf(FIGURES.name, day), partition }, cells);
}

interface Place {
  readonly table: string;
  readonly partition: number;
}

async function writeDay(client: PoolClient, place: Place, cells: readonly FigureCell[]): Promise<void> {
  const stored = await addStored(client, place, cells);
  if (stored.length > 0) await client.query(updateQuery(place, stored));
  const isStored = new Set(stored);
  const added = cells.filter((cell) => !isStored.has(cell));
  if (added.length > 0)
    await copyIn(client, `COPY ${place.table} (${COLUMNS}) FROM STDIN (FORMAT binary)`, rowsOf(place, added));
}

/** Resolves to those of which something is stored. */
async function addStored(client: PoolClient, { table, partition }: Place, cells: readonly FigureCell[]) {
  const { rows } = await client.query<{ position: number; figures: string }>({
    name: `read ${table}`,
    text: `
      SELECT b.position::integer AS position, f.figures
        FROM ${KEYS_OF_CELLS} WITH ORDINALITY AS b (fleet_id, step, bucket_at, subscription_id, event_type, position)
        JOIN ${table} AS f ON ${SAME_KEY} AND f.partition = $6`,
    values: [...keysOf(cells), partition],
  });
  const sum = new PackedSum();
  return rows.flatMap(({ position, figures }) => {
    const cell = cells[position - 1];
    if (cell === undefined) return [];
    sum.add(figures);
    addFigures(cell.figures, sum.take());
    return [cell];
  });
}

function updateQuery({ table, partition }: Place, cells: readonly FigureCell[]) {
  return {
    name: `write ${table}`,
    text: `
      UPDATE ${table} AS f SET figures = b.figures
        FROM unnest($1::text[], $2::integer[], $3::timestamptz[], $4::text[], $5::text[], $7::text[])
             AS b (fleet_id, step, bucket_at, subscription_id, event_type, figures)
       WHERE ${SAME_KEY} AND f.partition = $6`,
    values: [...keysOf(cells), partition, cells.map(({ figures }) => packFigures(figures))],
  };
}

const COLUMNS = 'bucket_at, step, partition, fleet_id, subscription_id, event_type, figures';
const KEYS_OF_CELLS = 'unnest($1::text[], $2::integer[], $3::timestamptz[], $4::text[], $5::text[])';
const SAME_KEY = ['fleet_id', 'step', 'bucket_at', 'subscription_id', 'event_type']
  .map((column) => `f.${column} = b.${column}`)
  .join(' AND ');

function keysOf(cells: readonly FigureCell[]): unknown[] {
  return [
    cells.map(({ fleetId }) => fleetId),
    cells.map(({ step }) => FIGURE_STEPS[step]),
    cells.map(({ startAt }) => new Date(startAt).toISOString()),
    cells.map(({ subscriptionId }) => subscriptionId),
    cells.map(({ eventType }) => eventType),
  ];
}

function rowsOf({ partition }: Place, cells: readonly FigureCell[]): Buffer {
  const rows = new CopyRows();
  for (const cell of cells) {
    rows.startRow(7);
    rows.timestamp(cell.startAt);
    rows.integer(FIGURE_STEPS[cell.step]);
    rows.integer(partition);
    rows.text(cell.fleetId);
    rows.text(cell.subscriptionId);
    rows.text(cell.eventType);
    rows.text(packFigures(cell.figures));
  }
  return rows.finish();
}
