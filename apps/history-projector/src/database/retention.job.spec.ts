import { describe, expect, it } from '@jest/globals';
import { DatabaseRetry } from '@waypost/database';
import type { DailyPartitions } from '@waypost/history-store';
import { flushed } from '../../../../test/support/until.js';
import type { Every } from './every.js';
import { RetentionJob } from './retention.job.js';

const NOW = Date.UTC(2026, 5, 20, 12);
const DAY_MS = 86_400_000;

function build(
  ensure: () => Promise<readonly string[]> = () => Promise.resolve([]),
  others: readonly DailyPartitions[] = [],
  waiting: readonly string[] = [],
) {
  const detached = {
    type: 'detached' as const,
    partitions: waiting.length === 0 ? ['deliveries_20260604'] : [],
    waiting,
  };
  const logged: unknown[] = [];
  const calls: string[] = [];
  const events: string[] = [];
  let tick: () => void = () => undefined;
  let isCancelled = false;
  const log = (event: string, fields?: object): void => {
    events.push(event);
    logged.push(fields);
  };
  const table: DailyPartitions = {
    ensurePartitions: (from, to) => {
      calls.push(`ensure ${String((from - NOW) / DAY_MS)} to ${String((to - NOW) / DAY_MS)}`);
      return ensure();
    },
    detachExpired: (nowMs) => {
      calls.push(`detach at ${String(nowMs - NOW)}`);
      return Promise.resolve(detached);
    },
    dropDetached: (nowMs) => {
      calls.push(`drop at ${String(nowMs - NOW)}`);
      return Promise.resolve({ type: 'dropped', partitions: detached.partitions });
    },
  };
  const database = new DatabaseRetry({
    logger: { info: log, warn: log },
    monotonicMs: () => NOW,
    wait: () => new Promise((resolve) => setImmediate(resolve)),
  });
  const every: Every = (ms, call) => {
    calls.push(`every ${String(ms)}`);
    tick = call;
    return () => {
      isCancelled = true;
    };
  };
  const job = new RetentionJob([table, ...others], database, { info: log, error: log }, () => NOW, every);
  return { job, calls, events, logged, hour: () => tick(), isCancelled: () => isCancelled };
}

/** The job waits for promises and, when the database is away, for single turns of the event loop. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 10; turn++) await flushed();
}

describe('the retention job', () => {
  it('makes the partitions of two days ahead, takes the expired ones out and then drops them, at start and every hour', async () => {
    const { job, calls, events, hour } = build();
    job.onApplicationBootstrap();
    await settled();
    expect(calls).toEqual(['ensure 0 to 2', 'every 3600000', 'detach at 0', 'drop at 0']);
    expect(events).toEqual(['partitions_tidied']);

    hour();
    await settled();
    expect(calls.slice(4)).toEqual(['ensure 0 to 2', 'detach at 0', 'drop at 0']);
  });

  it('reports days that are still being read, and drops what an earlier run left', async () => {
    const { job, calls, logged } = build(undefined, [], ['deliveries_20260604']);
    job.onApplicationBootstrap();
    await settled();
    expect(logged).toEqual([{ created: [], dropped: [], waiting: ['deliveries_20260604'] }]);
    expect(calls.at(-1)).toBe('drop at 0');
  });

  it('does not begin again while it is at it', async () => {
    let finish: (created: string[]) => void = () => undefined;
    const { job, calls, hour } = build(
      () =>
        new Promise((resolve) => {
          finish = resolve;
        }),
    );
    job.onApplicationBootstrap();
    hour();
    hour();
    finish([]);
    await settled();
    expect(calls.filter((call) => call.startsWith('ensure'))).toHaveLength(1);
  });

  it('tells a failure and tries again in an hour', async () => {
    const { job, events, hour } = build(() => Promise.reject(new Error('permission denied')));
    job.onApplicationBootstrap();
    await settled();
    hour();
    await settled();
    expect(events).toEqual(['retention_failed', 'retention_failed']);
  });

  it('looks after each table, although another failed', async () => {
    const dropped: number[] = [];
    const other: DailyPartitions = {
      ensurePartitions: () => Promise.resolve([]),
      detachExpired: () => Promise.resolve({ type: 'busy' }),
      dropDetached: (nowMs) => {
        dropped.push(nowMs);
        return Promise.resolve({ type: 'dropped', partitions: ['path_points_20260604'] });
      },
    };
    const { job, events } = build(() => Promise.reject(new Error('permission denied')), [other]);
    job.onApplicationBootstrap();
    await settled();
    expect(dropped).toEqual([NOW]);
    expect(events).toEqual(['retention_failed', 'partitions_tidied']);
  });

  it('waits for a database that is away, and stops waiting when it is stopped', async () => {
    const gone = Object.assign(new Error('gone'), { code: 'ECONNREFUSED' });
    const { job, calls, events, isCancelled } = build(() => Promise.reject(gone));
    job.onApplicationBootstrap();
    await settled();
    expect(calls.filter((call) => call.startsWith('ensure')).length).toBeGreaterThan(1);

    await job.onModuleDestroy();
    const tries = calls.length;
    await settled();
    expect(calls).toHaveLength(tries);
    expect(events).toEqual(['database_away']);
    expect(isCancelled()).toBe(true);
  });
});
