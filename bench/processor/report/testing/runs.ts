import type { BenchResults } from '../../measure-all.js';
import type { DrainRun } from '../../scenarios/drain.js';
import type { FailoverRun } from '../../scenarios/failover.js';
import type { LatencyRun } from '../../scenarios/latency.js';
import type { RestoreRun } from '../../scenarios/restore.js';
import type { Configuration } from '../../sides/deployment.js';

/** Runs in which only what is given differs. */
type Given<T> = Partial<T> & { readonly configuration: Configuration };

const answer = { events: 0, hash: '', content: '' };

export const emptyResults: BenchResults = {
  machine: {
    cpu: 'Invented CPU',
    cores: 2,
    memoryGiB: 8,
    system: 'Linux 6.1',
    node: '20.19.0',
    java: '17.0.1',
    broker: '4.1.1',
    kafkaStreams: '4.1.1',
  },
  backlog: { pings: 1_000, devices: 10 },
  rounds: 1,
  expected: null,
  drain: [],
  latency: [],
  restore: [],
  failover: [],
  partitions: [],
  rules: [],
  rulesExpected: null,
};

export function drainRun(given: Given<DrainRun>): DrainRun {
  return {
    records: 1,
    seconds: 1,
    streamingPerSecond: 1,
    cpuSeconds: 1,
    brokerCpuSeconds: 1,
    peakMiB: 1,
    answer,
    ...given,
  };
}

export function latencyRun(given: Given<LatencyRun>): LatencyRun {
  return { events: 1, p50Ms: 1, p99Ms: 1, maxMs: 1, ...given };
}

export function restoreRun(given: Given<RestoreRun>): RestoreRun {
  return { devices: 1, firstEventMs: 1, allPartitionsMs: 1, restoreWorkMs: null, ...given };
}

export function failoverRun(given: Given<FailoverRun>): FailoverRun {
  return { kind: 'restart', firstCommitMs: 1, allPartitionsMs: 1, answer, ...given };
}
