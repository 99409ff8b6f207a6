import { type CollectFunction, Gauge, Histogram, type Registry } from 'prom-client';
import type { StreamRecord } from '../record.js';
import type { TaskManager } from '../runtime/task-manager.js';

export interface MetricsOptions {
  readonly registry: Registry;
  readonly prefix?: string | undefined;
  /** Epoch milliseconds. */
  readonly now: () => number;
}

/** Shows the partitions of this process's groups: their states, their lag, and work that does not end. */
export interface TaskMetrics {
  add(group: string, manager: ShownManager): void;
  /** Records of one partition have been processed: observes the age of the first. */
  processed(group: string, records: readonly StreamRecord[]): void;
}

type ShownManager = Pick<TaskManager, 'tasks' | 'unrestored'>;
type ShownManagers = ReadonlyMap<string, ShownManager>;

const STATES = ['running', 'starting', 'parked'] as const;
const AGE_BUCKETS_S = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 60, 600];

export function registerTaskMetrics(options: MetricsOptions): TaskMetrics {
  const { registry, prefix = 'streams_', now } = options;
  const managers = new Map<string, ShownManager>();
  registerStates(options, managers);
  registerValues(options, managers);
  const age = new Histogram({
    name: `${prefix}record_age_seconds`,
    help: 'Time from the logging of a record to its processing, for the oldest of each slice of a batch (at most 1,000 records).',
    labelNames: ['group'],
    buckets: AGE_BUCKETS_S,
    registers: [registry],
  });
  return {
    add: (group, manager) => managers.set(group, manager),
    processed: (group, [first]) => {
      if (first !== undefined) age.observe({ group }, Math.max(0, now() - first.timestamp) / 1_000);
    },
  };
}

function registerStates({ registry, prefix = 'streams_' }: MetricsOptions, managers: ShownManagers): void {
  new Gauge({
    name: `${prefix}tasks`,
    help: 'Partitions that this process owns, by state: running, starting (restoring state) or parked.',
    labelNames: ['group', 'state'],
    registers: [registry],
    collect() {
      for (const [group, manager] of managers)
        for (const state of STATES)
          this.set({ group, state }, manager.tasks().filter((task) => task.state === state).length);
    },
  });
}

function registerValues({ registry, prefix = 'streams_', now }: MetricsOptions, managers: ShownManagers): void {
  const registers = [registry];
  const valuesOf = (valueOf: (manager: ShownManager) => number | undefined): CollectFunction<Gauge> =>
    function collect() {
      for (const [group, manager] of managers) {
        const value = valueOf(manager);
        if (value !== undefined) this.set({ group }, value);
      }
    };
  new Gauge({
    name: `${prefix}parked_partitions`,
    help: 'Parked partitions that this process owns; /tasks has the reasons.',
    labelNames: ['group'],
    registers,
    collect: valuesOf((manager) => manager.tasks().filter(({ parked }) => parked !== null).length),
  });
  new Gauge({
    name: `${prefix}lag_records`,
    help: 'Offsets between the last processed batch and the end of the log at that fetch.',
    labelNames: ['group'],
    registers,
    collect: valuesOf((manager) => manager.tasks().reduce((total, task) => total + (task.lagRecords ?? 0), 0)),
  });
  new Gauge({
    name: `${prefix}restore_remaining_records`,
    help: 'Offsets of changelogs that this process must still read before all its partitions run; 0 if none is restoring.',
    labelNames: ['group'],
    registers,
    collect: valuesOf((manager) => manager.unrestored?.()),
  });
  new Gauge({
    name: `${prefix}oldest_batch_seconds`,
    help: 'Age of the oldest batch that is still being processed; 0 if there is none.',
    labelNames: ['group'],
    registers,
    collect: valuesOf((manager) => {
      const at = now();
      return Math.max(0, ...manager.tasks().map(({ batchSince }) => at - (batchSince ?? at))) / 1_000;
    }),
  });
}
