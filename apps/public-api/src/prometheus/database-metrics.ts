import { Gauge, type Registry } from 'prom-client';
import type { PoolUsage } from '@waypost/database';
import type { OutboxLag } from '@waypost/management-store';

export interface DatabaseMetricsDeps {
  readonly registry: Registry;
  /** Pools by purpose. */
  readonly pools: Readonly<Record<string, () => PoolUsage>>;
  readonly readOutboxLag: () => Promise<OutboxLag>;
  /** Epoch milliseconds. */
  readonly nowMs: () => number;
}

/** The longest that a scrape waits for the database. */
const TIMEOUT_MS = 2_000;

/** Gauges that are read when they are scraped; those of the outbox are absent while the database is unavailable. */
export function registerDatabaseMetrics({ registry, pools, readOutboxLag, nowMs }: DatabaseMetricsDeps): void {
  const registers = [registry];
  new Gauge({
    name: 'waypost_database_connections',
    help: 'Connections to PostgreSQL by pool and state: busy or idle.',
    labelNames: ['pool', 'state'],
    registers,
    collect() {
      for (const [pool, usage] of Object.entries(pools)) {
        const { total, idle } = usage();
        this.set({ pool, state: 'busy' }, total - idle);
        this.set({ pool, state: 'idle' }, idle);
      }
    },
  });
  new Gauge({
    name: 'waypost_database_connections_awaited',
    help: 'Queries that wait for a connection. If above 0 for long, the database is slow or the pool is too small.',
    labelNames: ['pool'],
    registers,
    collect() {
      for (const [pool, usage] of Object.entries(pools)) this.set({ pool }, usage().waiting);
    },
  });
  const outboxLag = oneAtATime(() => inTime(readOutboxLag()));
  new Gauge({
    name: 'waypost_outbox_waiting',
    help: 'Changes that are not yet published to their topics.',
    registers,
    async collect() {
      const lag = await outboxLag();
      if (lag === null) this.remove();
      else this.set(lag.waiting);
    },
  });
  new Gauge({
    name: 'waypost_outbox_oldest_seconds',
    help: 'Age of the oldest change that is not yet published; 0 when there is none.',
    registers,
    async collect() {
      const lag = await outboxLag();
      if (lag === null) this.remove();
      else this.set(lag.oldestAt === null ? 0 : Math.max(0, nowMs() - lag.oldestAt) / 1_000);
    },
  });
}

/** Concurrent callers share one result: both gauges of a scrape cost one query. */
function oneAtATime<T>(read: () => Promise<T>): () => Promise<T> {
  let reading: Promise<T> | null = null;
  return () => {
    reading ??= read().finally(() => {
      reading = null;
    });
    return reading;
  };
}

/** null: it failed, or took too long. A scrape then has only the other metrics. */
async function inTime<T>(reading: Promise<T>): Promise<T | null> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<null>((resolve) => {
    timer = setTimeout(resolve, TIMEOUT_MS, null);
  });
  try {
    return await Promise.race([reading.catch(() => null), timeout]);
  } finally {
    clearTimeout(timer);
  }
}
