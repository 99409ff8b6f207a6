import { Gauge, Histogram, type Registry } from 'prom-client';
import type { RecordBatch, StreamRecord, TaskManager } from '@waypost/streams';
import type { RunningTasks } from '../runtime/running-tasks.js';

const STATES = ['running', 'starting', 'parked'] as const;
const AGE_BUCKETS_S = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 60, 600];

/** What a consumer tells of the partitions that it works on. */
export interface GroupMeter {
  batchBegins(batch: RecordBatch): void;
  batchEnds(batch: RecordBatch): void;
  batchFails(batch: RecordBatch): void;
  sliceEnds(records: readonly StreamRecord[]): void;
}

export interface TaskMetrics {
  ofGroup(group: string): GroupMeter;
}

interface TaskMetricsOptions {
  readonly registry: Registry;
  readonly groups: readonly { readonly name: string; readonly manager?: Pick<TaskManager, 'unrestored'> }[];
  readonly tasks: Pick<RunningTasks, 'all' | 'noteLag'>;
  /** Epoch milliseconds. */
  readonly now: () => number;
}

/** The partitions of every consumer of this process: their states, their lag, and work that does not end. */
export function registerTaskMetrics({ registry, groups, tasks, now }: TaskMetricsOptions): TaskMetrics {
  const registers = [registry];
  registerStates({ registry, groups, tasks });
  new Gauge({
    name: 'waypost_lag_records',
    help: 'Offsets of the log after the last batch that was processed, by the end of the log in the same fetch.',
    labelNames: ['group'],
    registers,
    collect() {
      const all = tasks.all();
      for (const { name: group } of groups) {
        const ours = all.filter(({ task }) => task.startsWith(`${group}:`));
        this.set(
          { group },
          ours.reduce((total, { lagRecords }) => total + (lagRecords ?? 0), 0),
        );
      }
    },
  });
  new Gauge({
    name: 'waypost_restore_remaining_records',
    help: 'Offsets of changelogs that this process must still read before all its partitions run; 0 when none restores.',
    labelNames: ['group'],
    registers,
    collect() {
      for (const { name: group, manager } of groups) if (manager?.unrestored) this.set({ group }, manager.unrestored());
    },
  });
  const oldest = oldestBatch(registry, groups, now);
  const age = new Histogram({
    name: 'waypost_record_age_seconds',
    help: 'From when a record was logged to when it was processed: the oldest of each batch, or of each 1,000 records of one.',
    labelNames: ['group'],
    buckets: AGE_BUCKETS_S,
    registers,
  });
  return {
    ofGroup: (group) => ({
      batchBegins: ({ partition }) => oldest.begins(group, partition),
      batchEnds: (batch) => {
        oldest.ends(group, batch.partition);
        tasks.noteLag(group, batch.partition, Math.max(0, batch.highWatermark - batch.nextOffset));
      },
      batchFails: ({ partition }) => oldest.ends(group, partition),
      sliceEnds: ([first]) => {
        if (first !== undefined) age.observe({ group }, Math.max(0, now() - first.timestamp) / 1_000);
      },
    }),
  };
}

function registerStates({ registry, groups, tasks }: Omit<TaskMetricsOptions, 'now'>): void {
  const registers = [registry];
  new Gauge({
    name: 'waypost_tasks',
    help: 'Partitions that this process owns, by state: running, starting (it restores) or parked.',
    labelNames: ['group', 'state'],
    registers,
    collect() {
      const all = tasks.all();
      for (const { name: group } of groups) {
        const ours = all.filter(({ task }) => task.startsWith(`${group}:`));
        for (const state of STATES) this.set({ group, state }, ours.filter((one) => one.state === state).length);
      }
    },
  });
  new Gauge({
    name: 'waypost_parked_partitions',
    help: 'Partitions that this process owns and that cannot go on; /tasks says why.',
    labelNames: ['group'],
    registers,
    collect() {
      const all = tasks.all();
      for (const { name: group } of groups) {
        this.set({ group }, all.filter(({ task, parked }) => parked !== null && task.startsWith(`${group}:`)).length);
      }
    },
  });
}

/** Work that hangs shows in no counter: the age of what is being processed does. */
function oldestBatch(registry: Registry, groups: TaskMetricsOptions['groups'], now: () => number) {
  const begun = new Map<string, Map<number, number>>();
  new Gauge({
    name: 'waypost_oldest_batch_seconds',
    help: 'How long the batch that has been processed longest has been; 0 when none is.',
    labelNames: ['group'],
    registers: [registry],
    collect() {
      const at = now();
      for (const { name: group } of groups) {
        const times = [...(begun.get(group)?.values() ?? [])];
        this.set({ group }, times.reduce((longest, begunAt) => Math.max(longest, at - begunAt), 0) / 1_000);
      }
    },
  });
  return {
    begins(group: string, partition: number): void {
      const ofGroup = begun.get(group) ?? new Map<number, number>();
      begun.set(group, ofGroup.set(partition, now()));
    },
    ends(group: string, partition: number): void {
      begun.get(group)?.delete(partition);
    },
  };
}
