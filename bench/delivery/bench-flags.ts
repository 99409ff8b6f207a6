import {
  count,
  DIST,
  type Flag,
  type FlagsOf,
  flagsParser,
  NODE_FLAGS,
  PROFILE,
  SERVE,
  some,
} from '../shared/bench-flags.js';

export const SCENARIOS = [
  ...(['capacity', 'healthy', 'latency', 'fan-out', 'slow', 'dead', 'failing', 'backlog'] as const),
  ...(['lateness', 'kill', 'isolation', 'stages'] as const),
] as const;
export type Scenario = (typeof SCENARIOS)[number];

const FLAGS = {
  only: some(SCENARIOS),
  seconds: count('of a measurement, after a warm-up', 20, 6),
  warmUpSeconds: count('before it', 8, 4),
  halfRate: {
    ...count('deliveries/s at half of the maximum; by default half of what this run has measured', 0),
    ...{ full: undefined, quick: undefined },
  } as Flag<number | undefined>,
  backlog: count('events of the backlog', 100_000, 30_000),
  instances: count('processes of webhook-delivery', 1),
  dist: DIST,
  nodeFlags: NODE_FLAGS,
  profile: PROFILE,
  serve: SERVE,
};

export type BenchFlags = FlagsOf<typeof FLAGS>;

export const parseBenchFlags = flagsParser(
  {
    name: 'delivery',
    description: 'Measures webhook-delivery: throughput, latency, isolation, retries and what a kill -9 does.',
    quick: 'short measurements: some four minutes',
  },
  FLAGS,
);
