import {
  count,
  counts,
  DIST,
  type FlagsOf,
  flagsParser,
  NODE_FLAGS,
  SERVE,
  some,
  toggle,
} from '../shared/bench-flags.js';

const SCENARIOS = ['drain', 'latency', 'restore', 'failover', 'takeover', 'partitions', 'rules'] as const;
const SIDES = ['ours', 'theirs'] as const;

const FLAGS = {
  pings: count('the backlog', 5_000_000, 1_000_000),
  devices: count('of the backlog', 20_000),
  rounds: count('how often each figure is taken', 3, 1),
  kills: count('how often a takeover is measured', 5, 1),
  only: some(SCENARIOS),
  sides: some(SIDES),
  processes: counts('process counts of ours', [1, 2]),
  threads: counts('thread counts of Kafka Streams', [1, 2]),
  restoreDevices: counts('sizes of the restored state', [200_000, 2_000_000], [200_000]),
  partitions: count('of the trickle on many partitions', 256, 64),
  seconds: count('of the latency measurement, after a warm-up', 45, 15),
  warmUpSeconds: count('before the latency measurement', 15, 8),
  restless: toggle('all rules: vehicles that start and stop every seven minutes, as in the other scenarios'),
  dist: DIST,
  nodeFlags: NODE_FLAGS,
  serve: SERVE,
};

export type BenchFlags = FlagsOf<typeof FLAGS>;

export const parseBenchFlags = flagsParser(
  {
    name: 'processor',
    description: 'Measures telemetry-processor beside the same work on Kafka Streams, on one broker and in one run.',
    quick: 'fewer pings, one round, 200,000 devices: some three minutes',
  },
  FLAGS,
);
