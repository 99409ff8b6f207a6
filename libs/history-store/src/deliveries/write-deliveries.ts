import { setImmediate as nextTick } from 'node:timers/promises';
import type { PoolClient, QueryConfig } from 'pg';
import { startOfUtcDay } from '../partitions/daily-table.js';
import { copyIn, CopyRows } from '../projection/binary-copy.js';
import { beginAndMovePosition, MOVED } from '../projection/projection-transaction.js';
import { partitionName } from './delivery-partitions.js';
import type { AttemptBatch } from './delivery-projection.js';
import {
  continueDeliveries,
  copyDeliveriesSql,
  FIND_EXISTING_DELIVERIES,
  findExistingParameters,
  UPSERT_DELIVERIES,
  upsertParameters,
  type WholeDelivery,
  writeDeliveryRow,
} from './delivery-sql.js';
import { type FoldedDelivery, hasManyProbes } from './fold-attempts.js';

/** The statements for a batch of a log without repetitions, prepared before the transaction begins. */
export interface PreparedWrites {
  /** Deliveries whose first record is in the batch, by day. */
  readonly inserts: readonly Copy[];
  readonly insertCount: number;
  /** Deliveries that are stored already, by day. */
  readonly updates: readonly Update[];
  /** Stored already, and some of their probes lose their lines. */
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

/** The event loop runs between chunks: the other partitions keep sending to the server. */
const ROWS_PER_CHUNK = 200;

/** @param deliveries of one batch, each once */
export async function prepareWrites(deliveries: readonly FoldedDelivery[]): Promise<PreparedWrites> {
  const whole = deliveries.filter(isWhole).sort(byFleet);
  const inserts: Copy[] = [];
  for (const [day, ofDay] of byDay(whole)) {
    inserts.push({ sql: copyDeliveriesSql(partitionName(day)), rows: await rowsOf(ofDay) });
  }
  const stored = deliveries.filter((delivery) => !isWhole(delivery));
  const updates = [...byDay(stored.filter((delivery) => !hasManyProbes(delivery)))].map(([day, ofDay]) => ({
    query: continueDeliveries(partitionName(day), ofDay),
    deliveries: ofDay,
  }));
  return { inserts, insertCount: whole.length, updates, upserts: stored.filter(hasManyProbes) };
}

async function rowsOf(deliveries: readonly WholeDelivery[]): Promise<Buffer> {
  const rows = new CopyRows();
  for (const [index, delivery] of deliveries.entries()) {
    if (index > 0 && index % ROWS_PER_CHUNK === 0) await nextTick();
    writeDeliveryRow(rows, delivery);
  }
  return rows.finish();
}

/**
 * Moves the position and writes a batch of a log without repetitions: deliveries that begin in the batch are new, the
 * others are stored and lack exactly these attempts. Resolves to the number of deliveries written; null: the position is
 * not where the batch begins, and the caller must roll back.
 *
 * @throws a unique violation when a delivery that begins in the batch is stored already
 */
export async function applyWrites(
  client: PoolClient,
  batch: AttemptBatch,
  { inserts, insertCount, updates, upserts }: PreparedWrites,
): Promise<number | null> {
  if (!(await moveAndInsert(client, batch, inserts))) return null;
  let written = insertCount;
  const others = [...upserts];
  for (const update of updates) {
    const left = await continueStored(client, update);
    written += update.deliveries.length - left.length;
    others.push(...left);
  }
  return written + (await upsertDeliveries(client, others));
}

/** Like `applyWrites`, for any deliveries, in whatever state they are stored. */
export async function applyUpserts(
  client: PoolClient,
  batch: AttemptBatch,
  deliveries: readonly FoldedDelivery[],
): Promise<number | null> {
  return (await moveAndInsert(client, batch, [])) ? upsertDeliveries(client, deliveries) : null;
}

/** The first day's deliveries share one message with the statements before them; there is rarely a second day. */
async function moveAndInsert(
  client: PoolClient,
  batch: AttemptBatch,
  [first, ...others]: readonly Copy[],
): Promise<boolean> {
  const move = beginAndMovePosition(batch);
  if (first === undefined) return hasMoved(client, move);
  const results = await copyIn(client, `${move}; ${first.sql}`, first.rows);
  if (!results.some((result) => MOVED.includes(result))) return false;
  for (const { sql, rows } of others) await copyIn(client, sql, rows);
  return true;
}

async function hasMoved(client: PoolClient, move: string): Promise<boolean> {
  // pg returns one result per statement.
  const results = (await client.query(move)) as unknown as readonly { readonly rowCount: number | null }[];
  return results.at(-1)?.rowCount === 1;
}

/** Resolves to the number of deliveries that could be written. */
async function upsertDeliveries(client: PoolClient, deliveries: readonly FoldedDelivery[]): Promise<number> {
  const writable = await withoutHeadless(client, deliveries);
  if (writable.length > 0) await client.query(UPSERT_DELIVERIES, upsertParameters(writable.toSorted(byFleet)));
  return writable.length;
}

/** Resolves to the deliveries that are not stored, or have some of the attempts already. */
async function continueStored(client: PoolClient, { query, deliveries }: Update): Promise<readonly FoldedDelivery[]> {
  const { rows } = await client.query<{ position: number }>(query);
  if (rows.length === deliveries.length) return [];
  const written = new Set(rows.map(({ position }) => deliveries[position - 1]));
  return deliveries.filter((delivery) => !written.has(delivery));
}

/** The deliveries that have their body or are stored already. */
async function withoutHeadless(
  client: PoolClient,
  deliveries: readonly FoldedDelivery[],
): Promise<readonly FoldedDelivery[]> {
  const continued = deliveries.filter((delivery) => !isWhole(delivery));
  if (continued.length === 0) return deliveries;
  const parameters = findExistingParameters(continued);
  const { rows } = await client.query<{ position: number }>(FIND_EXISTING_DELIVERIES, parameters);
  const existing = new Set(rows.map(({ position }) => continued[position - 1]));
  return deliveries.filter((delivery) => isWhole(delivery) || existing.has(delivery));
}

function isWhole(delivery: FoldedDelivery): delivery is WholeDelivery {
  return delivery.body !== null;
}

/**
 * By fleet, then by time, like the indexes and the pages: the rows of a fleet in one batch lie together, so that a page of a
 * large fleet reads a dozen blocks instead of a hundred.
 */
function byFleet(a: FoldedDelivery, b: FoldedDelivery): number {
  return a.fleetId === b.fleetId ? a.firstAttemptAt - b.firstAttemptAt : a.fleetId < b.fleetId ? -1 : 1;
}

function byDay<T extends FoldedDelivery>(deliveries: readonly T[]): Map<number, T[]> {
  const days = new Map<number, T[]>();
  for (const delivery of deliveries) {
    const day = startOfUtcDay(delivery.firstAttemptAt);
    const ofDay = days.get(day);
    if (ofDay === undefined) days.set(day, [delivery]);
    else ofDay.push(delivery);
  }
  return days;
}
