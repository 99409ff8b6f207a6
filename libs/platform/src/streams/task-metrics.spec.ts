import { describe, expect, it } from '@jest/globals';
import { Registry } from 'prom-client';
import type { RecordBatch, TaskStatus } from '@waypost/streams';
import { RunningTasks } from '../runtime/running-tasks.js';
import { registerTaskMetrics } from './task-metrics.js';

const GROUP = 'webhook-delivery.fan-out';

function build(views: readonly TaskStatus[] = []) {
  const registry = new Registry();
  const [clock, restore] = [{ now: 10_000 }, { remaining: 0 }];
  const groups = [{ name: GROUP, manager: { unrestored: () => restore.remaining } }];
  const tasks = new RunningTasks();
  tasks.add(GROUP, { tasks: () => views, command: () => null });
  const metrics = registerTaskMetrics({ registry, groups, tasks, now: () => clock.now });
  /** The series of the registry that are not 0. */
  const shown = async (): Promise<string[]> =>
    (await registry.metrics()).split('\n').filter((line) => /^[^#].* (?!0$)/.test(line));
  return { meter: metrics.ofGroup(GROUP), clock, restore, shown, tasks };
}

function batch(partition: number, nextOffset: number, highWatermark: number): RecordBatch {
  return { topic: 'fleet.events', partition, records: [], nextOffset, highWatermark, lastStableOffset: highWatermark };
}

function view(partition: number, state: TaskStatus['state']): TaskStatus {
  return {
    topic: 'fleet.events',
    partition,
    state,
    parked: state === 'parked' ? ({ code: 'PROCESSING_FAILED', message: '', offset: null } as never) : null,
  };
}

describe('the metrics of tasks (R-40, R-45)', () => {
  it('count the partitions of a group by state', async () => {
    const { shown } = build([view(0, 'running'), view(1, 'running'), view(2, 'parked')]);
    expect(await shown()).toEqual([
      `waypost_tasks{group="${GROUP}",state="running"} 2`,
      `waypost_tasks{group="${GROUP}",state="parked"} 1`,
      `waypost_parked_partitions{group="${GROUP}"} 1`,
    ]);
  });

  it('add the lag of the partitions that this process owns, as of their last batch', async () => {
    const { meter, shown, tasks } = build([view(0, 'running'), view(1, 'running')]);
    for (const one of [batch(0, 10, 50), batch(1, 20, 25), batch(2, 1, 900), batch(0, 30, 60)]) {
      meter.batchBegins(one);
      meter.batchEnds(one);
    }
    expect(await shown()).toContain(`waypost_lag_records{group="${GROUP}"} 35`);
    expect(tasks.all().map(({ lagRecords }) => lagRecords)).toEqual([30, 5]);
  });

  it('show how much of the changelogs a restore still has to read', async () => {
    const { restore, shown } = build();
    restore.remaining = 70_000;
    expect(await shown()).toEqual([`waypost_restore_remaining_records{group="${GROUP}"} 70000`]);
  });

  it('show a batch that does not end, until it fails', async () => {
    const { meter, clock, shown } = build();
    meter.batchBegins(batch(0, 10, 10));
    clock.now += 90_000;
    meter.batchBegins(batch(1, 10, 10));
    expect(await shown()).toEqual([`waypost_oldest_batch_seconds{group="${GROUP}"} 90`]);
    meter.batchFails(batch(0, 10, 10));
    expect(await shown()).toEqual([]);
  });

  it('observe how old records are when they have been processed', async () => {
    const { meter, clock, shown } = build();
    clock.now = 12_500;
    meter.sliceEnds([{ offset: 0, timestamp: 12_000, key: null, value: null }]);
    expect(await shown()).toContain(`waypost_record_age_seconds_sum{group="${GROUP}"} 0.5`);
  });
});
