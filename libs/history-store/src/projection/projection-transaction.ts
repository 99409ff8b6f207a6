/**
 * SQL by hand: a batch is one transaction of COPY and prepared statements, in as few messages as possible, which
 * TypeORM cannot express.
 */
import pg, { type Client, type PoolClient } from 'pg';
import type { DataSource } from 'typeorm';

/** How a batch moves the position of its partition. */
export interface PositionMove {
  readonly topic: string;
  readonly partition: number;
  /** The position that the caller expects to be stored; null: none yet. */
  readonly expectedOffset: number | null;
  /** The position after the batch; it moves even if nothing of the batch is written. */
  readonly nextOffset: number;
  /** For the attempt log: everything logged before this is in the batch or before it. Absent: not known. */
  readonly completeUntil?: number | undefined;
}

/** Another writer moved the position. Nothing was written; continue from the stored position. */
export interface Superseded {
  readonly type: 'superseded';
  readonly storedOffset: number | null;
}

/** A transaction takes tens of milliseconds; one of thousands of rows on a busy server takes a second or two. */
const TRANSACTION_TIMEOUT_MS = 30_000;
/** Longer than a batch takes. */
const LOCK_TIMEOUT = "SET LOCAL lock_timeout = '2s'";

/** Command tags of which one is a result of `beginAndMovePosition` if it moved the position. */
export const MOVED: readonly string[] = ['UPDATE 1', 'INSERT 0 1'];

/**
 * Runs `work` on a connection of the pool as pg's client. The work begins its transaction itself, together with the
 * first statement. It is committed unless the work resolves to null or rejects.
 *
 * A connection that is silent for `timeoutMs` is cut: the work rejects with a connection loss, and whether the
 * transaction took effect is unknown.
 */
export async function inTransaction<T>(
  dataSource: DataSource,
  work: (client: PoolClient) => Promise<T | null>,
  timeoutMs = TRANSACTION_TIMEOUT_MS,
): Promise<T | null> {
  const runner = dataSource.createQueryRunner();
  try {
    const client = (await runner.connect()) as PoolClient;
    // Ends the connection if a query is in progress, which rejects the query.
    const watchdog = setTimeout(() => void (client as unknown as Client).end(), timeoutMs);
    try {
      const result = await work(client);
      await client.query(result === null ? 'ROLLBACK' : 'COMMIT');
      return result;
    } catch (error) {
      // On a lost connection there is nothing to roll back; the first error is the one to report.
      await client.query('ROLLBACK').catch(() => undefined);
      throw error;
    } finally {
      clearTimeout(watchdog);
    }
  } finally {
    await runner.release();
  }
}

export async function readPosition(dataSource: DataSource, topic: string, partition: number): Promise<number | null> {
  const rows: { next_offset: string }[] = await dataSource.query(
    'SELECT next_offset FROM projection_positions WHERE topic = $1 AND partition = $2',
    [topic, partition],
  );
  return rows[0] === undefined ? null : Number(rows[0].next_offset);
}

/**
 * The SQL that begins the transaction of a batch and moves the position if it is where the caller expects it: a command
 * tag in `MOVED` says so. The row lock is held until the batch is committed: a rival writer waits here, and then finds
 * the position moved. A stopped rival would block the slot of the others, so the wait ends with SQLSTATE 55P03 and is
 * retried. There are no parameters, so that other statements can follow in the same message.
 *
 * `synchronous_commit = off`: a commit lost in a server crash takes back rows and position together, and the log still
 * has the records. The planner settings force one lookup per row, whatever the planner believes about the size of a
 * day: its plan is kept as long as the connection.
 */
export function beginAndMovePosition(move: PositionMove): string {
  const { topic, partition, expectedOffset, nextOffset } = move;
  return [
    'BEGIN',
    'SET LOCAL synchronous_commit = off',
    LOCK_TIMEOUT,
    'SET LOCAL enable_seqscan = off',
    'SET LOCAL enable_hashjoin = off',
    'SET LOCAL enable_mergejoin = off',
    expectedOffset === null
      ? `${moveProgress(move)} INSERT INTO projection_positions (topic, partition, next_offset)
           VALUES (${pg.escapeLiteral(topic)}, ${whole(partition)}, ${whole(nextOffset)})
           ON CONFLICT (topic, partition) DO NOTHING`
      : `${moveProgress(move)} UPDATE projection_positions SET next_offset = ${whole(nextOffset)}
           WHERE topic = ${pg.escapeLiteral(topic)} AND partition = ${whole(partition)}
             AND next_offset = ${whole(expectedOffset)}`,
  ].join('; ');
}

/** Begins the transaction; false: the position is not where the caller expects it. */
export async function movePosition(client: PoolClient, move: PositionMove): Promise<boolean> {
  // pg returns one result per statement.
  const results = (await client.query(beginAndMovePosition(move))) as unknown as readonly {
    readonly rowCount: number | null;
  }[];
  return results.at(-1)?.rowCount === 1;
}

/**
 * A part of the statement that moves the position, and whose command tag counts. It adds a row that is missing: without
 * one the partition would not hold back the others.
 */
function moveProgress({ partition, completeUntil }: PositionMove): string {
  if (completeUntil === undefined) return '';
  const time = pg.escapeLiteral(new Date(completeUntil).toISOString());
  return `WITH progress AS (
    INSERT INTO delivery_progress (partition, complete_until) VALUES (${whole(partition)}, ${time})
    ON CONFLICT (partition) DO UPDATE SET complete_until = excluded.complete_until)`;
}

function whole(value: number): string {
  if (!Number.isSafeInteger(value)) throw new RangeError(`${String(value)} is not an offset`);
  return String(value);
}
