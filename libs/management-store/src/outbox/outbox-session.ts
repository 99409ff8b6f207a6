/** Written by hand: the advisory lock and LISTEN belong to one connection, which TypeORM's pool would share. */
import pg from 'pg';
import { databaseAddress } from '@waypost/database';
import { OUTBOX_CHANNEL, type OutboxKind } from './outbox.js';

/** A change that waits to be published. */
export interface OutboxRow {
  readonly id: string;
  readonly kind: OutboxKind;
  readonly key: string;
  /** null: the key decides the partition. */
  readonly partitionKey: string | null;
  readonly value: object | null;
}

/**
 * The right to publish, held by one process at a time through an advisory lock. Rows are read and marked on the connection
 * that holds the lock: when it is lost, so is the right, and nothing more is marked.
 */
export interface OutboxSession {
  /** Oldest first. */
  readWaiting(limit: number): Promise<readonly OutboxRow[]>;
  /**
   * Removes the values too: for the day that the rows stay, a caller could fill the disk with them. There is no way back: a
   * row whose mark is taken away again by hand would be published as a deletion.
   */
  markPublished(ids: readonly string[], nowMs: number): Promise<void>;
  /** Deletes rows published before this time; returns how many. */
  trim(publishedBeforeMs: number): Promise<number>;
  close(): Promise<void>;
}

export type OpenOutboxSessionResult =
  | { readonly type: 'held'; readonly session: OutboxSession }
  /** Another process publishes. */
  | { readonly type: 'busy' };

export interface OutboxSessionOptions {
  readonly databaseUrl: string;
  /** A process appended rows. */
  readonly onAppended: () => void;
  /** The connection, and with it the lock, is gone. */
  readonly onLost: (error: Error) => void;
}

/** One number for every process that publishes this database's outbox. */
const OUTBOX_LOCK = 7_217_503;

/**
 * A holder whose host is gone without a word: the server finds out within 11 s and releases the lock. By the defaults of
 * most systems that takes over two hours, in which no change would be published. In seconds and ms, as PostgreSQL has it;
 * a system that does not know one of them ignores it.
 */
const SERVER_PROBES = `SET tcp_keepalives_idle = 5; SET tcp_keepalives_interval = 2; SET tcp_keepalives_count = 3;
  SET tcp_user_timeout = 10000`;
/** The same from this side: a holder that is cut off finds out within 15 s, and asks for the lock again. */
const PROBE_AFTER_MS = 5_000;

/** Rejects when the database cannot be reached. */
export async function openOutboxSession(options: OutboxSessionOptions): Promise<OpenOutboxSessionResult> {
  const { url, ssl } = databaseAddress(options.databaseUrl);
  const client = new pg.Client({
    connectionString: url,
    ssl,
    application_name: 'waypost-outbox',
    connectionTimeoutMillis: 5_000,
    query_timeout: 10_000,
    keepAlive: true,
    keepAliveInitialDelayMillis: PROBE_AFTER_MS,
  });
  let closing = false;
  const lost = (error: Error): void => {
    if (!closing) options.onLost(error);
    closing = true;
  };
  client.on('error', lost);
  client.on('end', () => lost(new Error('the database closed the connection')));
  const close = async (): Promise<void> => {
    closing = true;
    await client.end();
  };
  try {
    await client.connect();
    await client.query(SERVER_PROBES);
    const lock = await client.query<{ held: boolean }>('SELECT pg_try_advisory_lock($1) AS held', [OUTBOX_LOCK]);
    if (lock.rows[0]?.held !== true) {
      await close();
      return { type: 'busy' };
    }
    client.on('notification', options.onAppended);
    await client.query(`LISTEN ${OUTBOX_CHANNEL}`);
  } catch (error) {
    closing = true;
    await client.end().catch(() => undefined);
    throw error;
  }
  return { type: 'held', session: { ...sessionQueries(client), close } };
}

function sessionQueries(client: pg.Client): Omit<OutboxSession, 'close'> {
  return {
    async readWaiting(limit) {
      const waiting = await client.query<OutboxRow>(
        `SELECT id, kind, key, partition_key AS "partitionKey", value
           FROM outbox WHERE published_at IS NULL ORDER BY id LIMIT $1`,
        [limit],
      );
      return waiting.rows;
    },
    async markPublished(ids, nowMs) {
      await client.query('UPDATE outbox SET published_at = $2, value = NULL WHERE id = ANY($1::bigint[])', [
        ids,
        new Date(nowMs),
      ]);
    },
    async trim(publishedBeforeMs) {
      const deleted = await client.query('DELETE FROM outbox WHERE published_at < $1', [new Date(publishedBeforeMs)]);
      return deleted.rowCount ?? 0;
    },
  };
}
