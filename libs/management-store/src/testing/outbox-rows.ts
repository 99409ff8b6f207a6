import type pg from 'pg';

export interface OutboxRow {
  readonly kind: string;
  readonly key: string;
  readonly value: { readonly version: number } | null;
}

/** In the order in which they are published. */
export async function outboxOf(sql: pg.Client, key: string): Promise<OutboxRow[]> {
  const { rows } = await sql.query<OutboxRow>('SELECT kind, key, value FROM outbox WHERE key = $1 ORDER BY id', [key]);
  return rows;
}
