import type { PoolClient } from 'pg';
import { continueDeliveries } from './continue-deliveries-sql.js';
import { copyIn } from './copy-in.js';
import { partitionName } from './delivery-partitions.js';
import type { AttemptBatch } from './delivery-projection.js';
import type { FoldedDelivery } from './fold-attempts.js';
import { copyDeliveries, deliveryRows, type WholeDelivery } from './insert-deliveries.js';
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
  deliveries: readonly FoldedDelivery[],
): Promise<number | null> {
  const begun = deliveries.filter(isWhole).sort(byFleet);
  if (!(await moveAndInsert(client, batch, begun))) return null;
  const continued = deliveries.filter((delivery) => !isWhole(delivery));
  const others = await continueStored(client, continued);
  return begun.length + continued.length - others.length + (await writeOthers(client, others));
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
  begun: readonly WholeDelivery[],
): Promise<boolean> {
  const [first, ...others] = [...byDay(begun)].map(([day, ofDay]) => {
    return { sql: copyDeliveries(partitionName(day)), rows: deliveryRows(ofDay) };
  });
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
  deliveries: readonly FoldedDelivery[],
): Promise<readonly FoldedDelivery[]> {
  const others: FoldedDelivery[] = [];
  for (const [day, ofDay] of byDay(deliveries)) {
    const { rows } = await client.query<{ position: number }>(continueDeliveries(partitionName(day), ofDay));
    if (rows.length === ofDay.length) continue;
    const written = new Set(rows.map(({ position }) => ofDay[position - 1]));
    others.push(...ofDay.filter((delivery) => !written.has(delivery)));
  }
  return others;
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
