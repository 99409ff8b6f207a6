import pg from 'pg';
import type { DataSource } from 'typeorm';

/** From where to where a batch moves the position of its partition. */
export interface PositionMove {
  readonly topic: string;
  readonly partition: number;
  /** The position that the caller believes to be stored; null: none yet. */
  readonly expectedOffset: number | null;
  readonly nextOffset: number;
}

export async function readPosition(dataSource: DataSource, topic: string, partition: number): Promise<number | null> {
  const rows: { next_offset: string }[] = await dataSource.query(
    'SELECT next_offset FROM projection_positions WHERE topic = $1 AND partition = $2',
    [topic, partition],
  );
  return rows[0] === undefined ? null : Number(rows[0].next_offset);
}

/** Longer than a batch takes. */
const LOCK_PATIENCE = "SET LOCAL lock_timeout = '2s'";

/**
 * Begins the transaction of a batch and moves the position if it is where the caller believes it to be: `MOVED` is among
 * the results then. The row lock is held until the batch is committed: a rival waits here, and then finds the position
 * moved. One that is stopped would keep the others from their turns: waiting ends with SQLSTATE 55P03, and comes again. It
 * has no parameters, so that other statements may follow in the same message.
 *
 * Nothing is lost with a commit that a crash of the server takes back: the position goes back with the rows, and the log
 * has them still. The planner must look rows up one by one, whatever it believes about the size of a day: what it decides
 * is kept for as long as the connection.
 */
export function beginAndMovePosition({ topic, partition, expectedOffset, nextOffset }: PositionMove): string {
  return [
    'BEGIN',
    'SET LOCAL synchronous_commit = off',
    LOCK_PATIENCE,
    'SET LOCAL enable_seqscan = off',
    'SET LOCAL enable_hashjoin = off',
    'SET LOCAL enable_mergejoin = off',
    expectedOffset === null
      ? `INSERT INTO projection_positions (topic, partition, next_offset)
           VALUES (${pg.escapeLiteral(topic)}, ${whole(partition)}, ${whole(nextOffset)})
           ON CONFLICT (topic, partition) DO NOTHING`
      : `UPDATE projection_positions SET next_offset = ${whole(nextOffset)}
           WHERE topic = ${pg.escapeLiteral(topic)} AND partition = ${whole(partition)}
             AND next_offset = ${whole(expectedOffset)}`,
  ].join('; ');
}

export const MOVED: readonly string[] = ['UPDATE 1', 'INSERT 0 1'];

function whole(value: number): string {
  if (!Number.isSafeInteger(value)) throw new RangeError(`${String(value)} is no offset`);
  return String(value);
}
