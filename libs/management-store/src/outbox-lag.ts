import type { DataSource } from 'typeorm';

/** What the publisher of the outbox has before it. */
export interface OutboxLag {
  readonly waiting: number;
  /** Epoch milliseconds; null when nothing waits. */
  readonly oldestAt: number | null;
}

export async function readOutboxLag(dataSource: DataSource): Promise<OutboxLag> {
  const [row] = await dataSource.query<{ waiting: string; oldest: Date | null }[]>(
    'SELECT count(*) AS waiting, min(created_at) AS oldest FROM outbox WHERE published_at IS NULL',
  );
  return { waiting: Number(row?.waiting ?? 0), oldestAt: row?.oldest?.getTime() ?? null };
}
