import { setImmediate as nextTurn } from 'node:timers/promises';
import type { PoolClient, QueryConfig } from 'pg';
import { probeCount, recordNumber } from '@waypost/domain';
import {
  CountedFigures,
  endOf,
  NOT_STORED,
  type StoredDelivery,
  type WrittenDelivery,
} from '../figures/figure-cells.js';
import { figureRows, type StoredFigures, writeFigures } from '../figures/write-figures.js';
import { groupByDay } from '../partitions/daily-table.js';
import { copyIn, CopyRows } from '../projection/binary-copy.js';
import { beginAndMovePosition, MOVED, movePosition } from '../projection/projection-transaction.js';
import { partitionName } from './delivery-partitions.js';
import type { AttemptBatch } from './delivery-projection.js';
import {
  continueDeliveries,
  copyDeliveriesSql,
  type ExistingDelivery,
  FIND_EXISTING_DELIVERIES,
  findExistingParameters,
  UPSERT_DELIVERIES,
  upsertParameters,
  type WholeDelivery,
  writeDeliveryRow,
} from './delivery-sql.js';
import { type FoldedDelivery, hasManyProbes, lastRecordNumber, unpackAttempts } from './fold-attempts.js';
import { forgetEnded } from './waiting-sql.js';

/** The statements for a batch of a log without repetitions, prepared before the transaction. */
export interface PreparedWrites {
  /** Deliveries whose first record is in the batch, by day. */
  readonly inserts: readonly Copy[];
  /** The number of inserted deliveries. */
  readonly inserted: number;
  /** What the batch adds to the figures. */
  readonly figures: readonly StoredFigures[];
  /** Deliveries that are already stored, by day. */
  readonly updates: readonly Update[];
  /** Stored deliveries, some of whose probes lose their lines. */
  readonly upserts: readonly FoldedDelivery[];
}

interface Copy {
  readonly sql: string;
  readonly rows: Buffer;
}

interface Update {
  readonly query: QueryConfig;
  readonly deliveries: readonly FoldedDelivery[];
}

/** Yields to the event loop after a chunk: the other partitions keep sending to the server. */
const ROWS_PER_CHUNK = 200;

export async function prepareWrites(deliveries: readonly FoldedDelivery[]): Promise<PreparedWrites> {
  const whole = deliveries.filter(isWhole).sort(byFleet);
  const inserts: Copy[] = [];
  const counted = new CountedFigures();
  for (const [day, ofDay] of groupByDay(whole, firstAttempt)) {
    inserts.push({ sql: copyDeliveriesSql(partitionName(day)), rows: await rowsOf(ofDay, counted) });
  }
  const stored = deliveries.filter((delivery) => !isWhole(delivery));
  const updates = [
    ...groupByDay(
      stored.filter((delivery) => !hasManyProbes(delivery)),
      firstAttempt,
    ),
  ].map(([day, ofDay]) => ({
    query: continueDeliveries(partitionName(day), ofDay),
    deliveries: ofDay,
  }));
  return {
    inserts,
    inserted: whole.length,
    figures: figureRows(counted),
    updates,
    upserts: stored.filter(hasManyProbes),
  };
}

async function rowsOf(deliveries: readonly WholeDelivery[], counted: CountedFigures): Promise<Buffer> {
  const rows = new CopyRows();
  for (const [index, delivery] of deliveries.entries()) {
    if (index > 0 && index % ROWS_PER_CHUNK === 0) await nextTurn();
    writeDeliveryRow(rows, delivery);
    counted.add({ delivery, before: NOT_STORED });
  }
  return rows.finish();
}

/**
 * For a log without repetitions: deliveries that begin in the batch are new, the others are stored and lack exactly
 * these attempts. Resolves to the number written; null: the position is not where the batch begins, and the caller must
 * roll back.
 * @throws a unique violation if a delivery that begins in the batch is already stored
 */
export async function applyWrites(
  client: PoolClient,
  batch: AttemptBatch,
  { inserts, inserted, figures, updates, upserts }: PreparedWrites,
): Promise<number | null> {
  if (!(await moveAndInsert(client, batch, inserts))) return null;
  const written: WrittenDelivery[] = [];
  const others = [...upserts];
  for (const update of updates) {
    const { continued, left } = await continueStored(client, update);
    written.push(...continued.map((delivery) => ({ delivery, before: beforeContinued(delivery) })));
    others.push(...left);
  }
  written.push(...(await upsertDeliveries(client, others)));
  await writeFigures(client, batch.partition, [...figures, ...rowsAddedBy(written)]);
  await forgetEnded(client, batch.attempts);
  return inserted + written.length;
}

/** Like `applyWrites`, for any deliveries, in whatever state they are stored. */
export async function applyUpserts(
  client: PoolClient,
  batch: AttemptBatch,
  deliveries: readonly FoldedDelivery[],
): Promise<number | null> {
  if (!(await moveAndInsert(client, batch, []))) return null;
  const written = await upsertDeliveries(client, deliveries);
  await writeFigures(client, batch.partition, rowsAddedBy(written));
  await forgetEnded(client, batch.attempts);
  return written.length;
}

function rowsAddedBy(written: readonly WrittenDelivery[]): StoredFigures[] {
  const counted = new CountedFigures();
  for (const one of written) counted.add(one);
  return figureRows(counted);
}

/** The first day's deliveries share a message with the statements before them; a second day is rare. */
async function moveAndInsert(
  client: PoolClient,
  batch: AttemptBatch,
  [first, ...others]: readonly Copy[],
): Promise<boolean> {
  if (first === undefined) return movePosition(client, batch);
  const results = await copyIn(client, `${beginAndMovePosition(batch)}; ${first.sql}`, first.rows);
  if (!results.some((result) => MOVED.includes(result))) return false;
  for (const { sql, rows } of others) await copyIn(client, sql, rows);
  return true;
}

/** Resolves to the deliveries that could be written, which have their body or are already stored. */
async function upsertDeliveries(
  client: PoolClient,
  deliveries: readonly FoldedDelivery[],
): Promise<readonly WrittenDelivery[]> {
  if (deliveries.length === 0) return [];
  const stored = await readStored(client, deliveries);
  const writable = deliveries.filter((delivery) => isWhole(delivery) || stored.has(delivery));
  if (writable.length > 0) await client.query(UPSERT_DELIVERIES, upsertParameters(writable.toSorted(byFleet)));
  return writable.map((delivery) => ({ delivery, before: stored.get(delivery) ?? NOT_STORED }));
}

interface Continued {
  readonly continued: readonly FoldedDelivery[];
  /** Deliveries that are not stored, already ended, or have some of the attempts. */
  readonly left: readonly FoldedDelivery[];
}

async function continueStored(client: PoolClient, { query, deliveries }: Update): Promise<Continued> {
  const { rows } = await client.query<{ position: number }>(query);
  if (rows.length === deliveries.length) return { continued: deliveries, left: [] };
  const positions = new Set(rows.map(({ position }) => position - 1));
  return {
    continued: deliveries.filter((_, index) => positions.has(index)),
    left: deliveries.filter((_, index) => !positions.has(index)),
  };
}

/** What `continueDeliveries` implies about the stored state of a delivery it has found. */
function beforeContinued({ attempts: [first] }: FoldedDelivery): StoredDelivery {
  if (first === undefined) return NOT_STORED;
  return { lastRecord: recordNumber(first) - 1, probes: first.probes - (first.probe ? 1 : 0), end: null };
}

async function readStored(
  client: PoolClient,
  deliveries: readonly FoldedDelivery[],
): Promise<ReadonlyMap<FoldedDelivery, StoredDelivery>> {
  const { rows } = await client.query<ExistingDelivery>(FIND_EXISTING_DELIVERIES, findExistingParameters(deliveries));
  return new Map(
    rows.flatMap(({ position, created_at: createdAt, delivered_at: deliveredAt, attempts: text }) => {
      const delivery = deliveries[position - 1];
      const attempts = unpackAttempts(text);
      const times = { createdAt: createdAt.getTime(), deliveredAt: deliveredAt?.getTime() ?? null };
      const end = endOf(times, attempts.at(-1)?.outcome ?? '');
      const stored = { lastRecord: lastRecordNumber({ attempts }), probes: probeCount({ attempts }), end };
      return delivery === undefined ? [] : [[delivery, stored] as const];
    }),
  );
}

function isWhole(delivery: FoldedDelivery): delivery is WholeDelivery {
  return delivery.body !== null;
}

/**
 * Sorts by fleet, then by time, like the indexes and the pages: a fleet's rows of one batch lie together, so that a
 * page of a large fleet reads a dozen blocks instead of a hundred.
 */
function byFleet(a: FoldedDelivery, b: FoldedDelivery): number {
  return a.fleetId === b.fleetId ? a.firstAttemptAt - b.firstAttemptAt : a.fleetId < b.fleetId ? -1 : 1;
}

function firstAttempt({ firstAttemptAt }: FoldedDelivery): number {
  return firstAttemptAt;
}
