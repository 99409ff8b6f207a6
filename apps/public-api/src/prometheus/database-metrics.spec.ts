import { describe, expect, it } from '@jest/globals';
import { Registry } from 'prom-client';
import type { OutboxLag } from '@waypost/management-store';
import { registerDatabaseMetrics } from './database-metrics.js';

const NOW = 1_800_000_000_000;

function build(readOutboxLag: () => Promise<OutboxLag>) {
  const registry = new Registry();
  const pools = {
    management: () => ({ total: 7, idle: 3, waiting: 2 }),
    pages: () => ({ total: 1, idle: 1, waiting: 0 }),
  };
  registerDatabaseMetrics({ registry, pools, readOutboxLag, nowMs: () => NOW });
  return async () => (await registry.metrics()).split('\n').filter((line) => /^waypost_/.test(line));
}

describe('the metrics of the database', () => {
  it('tell the connections and what waits for them', async () => {
    const scrape = build(() => Promise.resolve({ waiting: 0, oldestAt: null }));
    expect(await scrape()).toEqual([
      'waypost_database_connections{pool="management",state="busy"} 4',
      'waypost_database_connections{pool="management",state="idle"} 3',
      'waypost_database_connections{pool="pages",state="busy"} 0',
      'waypost_database_connections{pool="pages",state="idle"} 1',
      'waypost_database_connections_awaited{pool="management"} 2',
      'waypost_database_connections_awaited{pool="pages"} 0',
      'waypost_outbox_waiting 0',
      'waypost_outbox_oldest_seconds 0',
    ]);
  });

  it('tell what waits in the outbox, and for how long', async () => {
    const scrape = build(() => Promise.resolve({ waiting: 12, oldestAt: NOW - 4_500 }));
    expect(await scrape()).toEqual(
      expect.arrayContaining(['waypost_outbox_waiting 12', 'waypost_outbox_oldest_seconds 4.5']),
    );
  });

  it('leave the outbox out while the database is unavailable', async () => {
    let isAway = false;
    const scrape = build(() =>
      isAway ? Promise.reject(new Error('away')) : Promise.resolve({ waiting: 1, oldestAt: NOW }),
    );
    await scrape();
    isAway = true;
    const text = (await scrape()).join('\n');
    expect(text).not.toContain('outbox');
    expect(text).toContain('waypost_database_connections_awaited{pool="management"} 2');
  });
});
