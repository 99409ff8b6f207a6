import { setImmediate as nextTurn } from 'node:timers/promises';
import type { PoolClient, QueryConfig } from 'pg';
import { continueDeliveries } from './continue-deliveries-sql.js';
import { copyIn } from './copy-in.js';
import { CopyRows } from './copy-rows.js';
import { partitionName } from './delivery-partitions.js';
import type { AttemptBatch } from './delivery-projection.js';
import type { FoldedDelivery } from './fold-attempts.js';
import { copyDeliveries, writeDeliveryRow, type WholeDelivery } from './insert-deliveries.js';
import { beginAndMovePosition, MOVED } from './projection-position.js';
import { startOfUtcDay } from './retention.js';
import {
  FIND_KNOWN_DELIVERIES,
  findKnownParameters,
  UPSERT_DELIVERIES,
  upsertParameters,
} from './upsert-deliveries-sql.js';

/**
 * By fleet, then by time, as the indexes are and as pages are read: what a fleet has in a batch lies together, so that a page
 * of a large fleet looks at a dozen blocks and not at a hundred.
 */
const byFleet = (a: FoldedDelivery, b: FoldedDelivery): number =>
  a.fleetId === b.fleetId ? a.firstAttemptAt - b.firstAttemptAt : a.fleetId < b.fleetId ? -1 : 1;

/** What a log without repetitions holds, made ready to be sent: that takes a while, and no transaction should wait for it. */
export interface ExpectedDeliveries {
  /** Those that begin in the batch, by day. */
  readonly begun: readonly Copy[];
  readonly begunCount: number;
  /** Those that are stored, by day. */
  readonly continued: readonly Continuation[];
}

interface Copy {
  readonly sql: string;
  readonly rows: Buffer;
}

interface Continuation {
  readonly update: QueryConfig;
  readonly deliveries: readonly FoldedDelivery[];
}

/** Between the pieces others have their turn: what another partition sends to the server must not come to a halt. */
const ROWS_IN_A_PIECE = 200;

/** @param deliveries of one batch, each once */
export async function expectedDeliveries(deliveries: readonly FoldedDelivery[]): Promise<ExpectedDeliveries> {
  const whole = deliveries.filter(isWhole).sort(byFleet);
  const begun: Copy[] = [];
  for (const [day, ofDay] of byDay(whole)) {
    begun.push({ sql: copyDeliveries(partitionName(day)), rows: await rowsOf(ofDay) });
  }
  const continued = [...byDay(deliveries.filter((delivery) => !isWhole(delivery)))].map(([day, ofDay]) => ({
    update: continueDeliveries(partitionName(day), ofDay),
    deliveries: ofDay,
  }));
  return { begun, begunCount: whole.length, continued };
}

async function rowsOf(deliveries: readonly WholeDelivery[]): Promise<Buffer> {
  const rows = new CopyRows();
  for (const [index, delivery] of deliveries.entries()) {
    if (index > 0 && index % ROWS_IN_A_PIECE === 0) await nextTurn();
    writeDeliveryRow(rows, delivery);
  }
  return rows.finish();
}

/**
 * Moves the position and writes what a log without repetitions holds: deliveries that begin in the batch are new, the
 * others are stored and lack just these attempts. Resolves to the number of deliveries written; null: the position is not
 * where the batch begins, and the transaction is to be given up.
 *
 * @throws a unique violation when a delivery that begins in the batch is stored already
 */
export async function writeAsExpected(
  client: PoolClient,
  batch: AttemptBatch,
  { begun, begunCount, continued }: ExpectedDeliveries,
): Promise<number | null> {
  if (!(await moveAndInsert(client, batch, begun))) return null;
  let written = begunCount;
  const others: FoldedDelivery[] = [];
  for (const { update, deliveries } of continued) {
    const left = await continueStored(client, update, deliveries);
    written += deliveries.length - left.length;
    others.push(...left);
  }
  return written + (await writeOthers(client, others));
}

/** As `writeAsExpected`, of any deliveries, whatever of them is stored. */
export async function writeWhatever(
  client: PoolClient,
  batch: AttemptBatch,
  deliveries: readonly FoldedDelivery[],
): Promise<number | null> {
  return (await moveAndInsert(client, batch, [])) ? writeOthers(client, deliveries) : null;
}

/** The first day's deliveries go out in one message with all that is before them; nearly always there is no other day. */
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
  // Of several statements pg gives the results of all.
  const results = (await client.query(move)) as unknown as readonly { readonly rowCount: number | null }[];
  return results.at(-1)?.rowCount === 1;
}

/** Resolves to the number of deliveries that could be written. */
async function writeOthers(client: PoolClient, deliveries: readonly FoldedDelivery[]): Promise<number> {
  const writable = await withoutHeadless(client, deliveries);
  if (writable.length > 0) await client.query(UPSERT_DELIVERIES, upsertParameters(writable.toSorted(byFleet)));
  return writable.length;
}

const isWhole = (delivery: FoldedDelivery): delivery is WholeDelivery => delivery.body !== null;

/** Those that were not found, or have some of the attempts already. */
async function continueStored(
  client: PoolClient,
  update: QueryConfig,
  deliveries: readonly FoldedDelivery[],
): Promise<readonly FoldedDelivery[]> {
  const { rows } = await client.query<{ position: number }>(update);
  if (rows.length === deliveries.length) return [];
  const written = new Set(rows.map(({ position }) => deliveries[position - 1]));
  return deliveries.filter((delivery) => !written.has(delivery));
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

/** Deliveries that can be written: those that bring their body and those that are stored already. */
async function withoutHeadless(
  client: PoolClient,
  deliveries: readonly FoldedDelivery[],
): Promise<readonly FoldedDelivery[]> {
  const continued = deliveries.filter(({ body }) => body === null);
  if (continued.length === 0) return deliveries;
  const { rows } = await client.query<{ position: number }>(FIND_KNOWN_DELIVERIES, findKnownParameters(continued));
  const known = new Set(rows.map(({ position }) => continued[position - 1]));
  return deliveries.filter((delivery) => delivery.body !== null || known.has(delivery));
}
