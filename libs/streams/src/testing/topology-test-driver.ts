import type { OutgoingRecord } from '../record.js';
import { createTaskCore } from '../runtime/task-core.js';
import type { ForwardedRecord, KeyValueStore, Topology } from '../topology/topology.js';

/** A topology run by hand on one partition: no broker, no waiting, time moved by the test. */
export interface TopologyTestDriver {
  /** Processes one record as a transaction of its own and returns what it wrote to the sinks. */
  pipe(record: ForwardedRecord & { readonly timestamp?: number }): Promise<OutgoingRecord[]>;
  /** Everything written so far, changelogs included. */
  written(): readonly OutgoingRecord[];
  advanceTime(ms: number): void;
  store<T>(name: string): KeyValueStore<T>;
}

export interface TestDriverOptions {
  readonly topology: Topology;
  readonly partition?: number;
  readonly partitionCounts?: Readonly<Record<string, number>>;
  readonly startAt?: number;
}

export const createTopologyTestDriver = (options: TestDriverOptions): TopologyTestDriver => {
  const { topology, partition = 0, startAt = 0 } = options;
  let now = startAt;
  let offset = 0;
  const written: OutgoingRecord[] = [];
  const core = createTaskCore({
    topology,
    partition: { topic: topology.source, partition },
    partitionCounts: new Map(Object.entries(options.partitionCounts ?? {})),
    now: () => now,
  });
  const sinkTopics = new Set(Object.values(topology.sinks).map(({ topic }) => topic));
  return {
    pipe: async ({ key, value, timestamp = now }) => {
      const record = { offset: offset++, timestamp, key, value };
      await core.processor.prepare?.([record]);
      core.process(record);
      const output = core.pending();
      core.commit();
      written.push(...output);
      return output.filter(({ topic }) => sinkTopics.has(topic));
    },
    written: () => written,
    advanceTime: (ms) => {
      now += ms;
    },
    store: <T>(name: string) => {
      const store = core.stores.get(name);
      if (!store) throw new Error(`The topology has no store named ${name}.`);
      return store as unknown as KeyValueStore<T>;
    },
  };
};
