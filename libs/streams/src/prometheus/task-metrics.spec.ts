import { describe, expect, it } from '@jest/globals';
import { Registry } from 'prom-client';
import { until } from '../../../../test/support/until.js';
import { silentLogger } from '../logger.js';
import { StreamRecord } from '../record.js';
import { createStreamsApp } from '../runtime/streams-app.js';
import type { TaskStatus } from '../runtime/task-executor.js';
import { createMemoryBackend } from '../testing/memory-backend.js';
import { createTopology } from '../topology/topology.js';
import { registerTaskMetrics } from './task-metrics.js';

const GROUP = 'fan-out';

function build(views: readonly TaskStatus[] = []) {
  const registry = new Registry();
  const [clock, restore] = [{ now: 10_000 }, { remaining: 0 }];
  const metrics = registerTaskMetrics({ registry, now: () => clock.now });
  metrics.add(GROUP, { tasks: () => views, unrestored: () => restore.remaining });
  /** The series of the registry that are not 0. */
  const shown = async (): Promise<string[]> =>
    (await registry.metrics()).split('\n').filter((line) => /^[^#].* (?!0$)/.test(line));
  return { metrics, clock, restore, shown };
}

function view(partition: number, state: TaskStatus['state'], lagRecords: number | null = null): TaskStatus {
  const parked = { code: 'PROCESSING_FAILED', message: '', offset: null, since: 0, nextRetryAt: null } as const;
  return {
    topic: 'events',
    partition,
    state,
    parked: state === 'parked' ? parked : null,
    lagRecords,
    batchSince: null,
  };
}

describe('the metrics of tasks (R-40, R-45)', () => {
  it('count the partitions of a group by state', async () => {
    const { shown } = build([view(0, 'running'), view(1, 'running'), view(2, 'parked')]);
    expect(await shown()).toEqual([
      `streams_tasks{group="${GROUP}",state="running"} 2`,
      `streams_tasks{group="${GROUP}",state="parked"} 1`,
      `streams_parked_partitions{group="${GROUP}"} 1`,
    ]);
  });

  it('add the lag of the partitions that this process owns', async () => {
    const { shown } = build([view(0, 'running', 30), view(1, 'running', 5), view(2, 'starting')]);
    expect(await shown()).toContain(`streams_lag_records{group="${GROUP}"} 35`);
  });

  it('show how much of the changelogs a restore still has to read', async () => {
    const { restore, shown } = build();
    restore.remaining = 70_000;
    expect(await shown()).toEqual([`streams_restore_remaining_records{group="${GROUP}"} 70000`]);
  });

  it('show the age of the batch that has been processed for the longest', async () => {
    const [idle, older, newer] = [view(0, 'running'), view(1, 'running'), view(2, 'running')];
    const { clock, shown } = build([idle, { ...older, batchSince: 10_000 }, { ...newer, batchSince: 70_000 }]);
    clock.now += 90_000;
    expect(await shown()).toContain(`streams_oldest_batch_seconds{group="${GROUP}"} 90`);
  });

  it('observe how old records are when they have been processed', async () => {
    const { metrics, clock, shown } = build();
    clock.now = 12_500;
    metrics.processed(GROUP, [StreamRecord.of({ offset: 0, timestamp: 12_000, key: null, value: null })]);
    expect(await shown()).toContain(`streams_record_age_seconds_sum{group="${GROUP}"} 0.5`);
  });

  it('are those of a running application', async () => {
    const backend = createMemoryBackend({ topics: { events: 2 }, now: () => 0 });
    const { metrics, shown } = build();
    const processor = () => ({ process: () => undefined });
    const app = createStreamsApp({
      topology: createTopology({ applicationId: GROUP, source: 'events', sinks: {}, processor }),
      backend,
      logger: silentLogger,
      now: () => 0,
      onFatal: () => undefined,
    });
    metrics.add(GROUP, app);
    backend.append({ topic: 'events', partition: 0 }, { key: null, value: null });
    await app.start();
    await until(() => expect(app.tasks().map(({ lagRecords }) => lagRecords)).toEqual([0, null]));
    expect(await shown()).toEqual([`streams_tasks{group="${GROUP}",state="running"} 2`]);
    await app.stop();
  });
});
