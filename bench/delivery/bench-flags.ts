import {
  count,
  counts,
  DIST,
  type Flag,
  type FlagsOf,
  flagsParser,
  NODE_FLAGS,
  PROFILE,
  SERVE,
  some,
  toggle,
} from '../shared/bench-flags.js';

const SCENARIOS = [
  ...(['capacity', 'healthy', 'latency', 'fan-out', 'slow', 'dead', 'failing', 'backlog'] as const),
  ...(['lateness', 'punctuality', 'kill', 'isolation', 'stages'] as const),
] as const;
export type Scenario = (typeof SCENARIOS)[number];

/** See KINDS in scenarios/isolation.ts. In this order: after those that are retried come those that are not. */
export const ISOLATION_ROWS = [
  ...(['silent', 'status-line', 'trickle', 'tls-records', 'tls-close'] as const),
  ...(['long-reason', 'page', 'refuse', 'close', 'reset'] as const),
  ...(['408', '503', 'late', 'dns', 'burst', 'flood', 'held', 'resumed', 'parked', 'paused'] as const),
] as const;
export type IsolationRow = (typeof ISOLATION_ROWS)[number];

const FLAGS = {
  only: some(SCENARIOS),
  seconds: count('of a measurement, after a warm-up', 20, 6),
  warmUpSeconds: count('before it', 8, 4),
  halfRate: {
    ...count('deliveries/s at half of the maximum; by default half of what this run has measured', 0),
    full: undefined,
    quick: undefined,
  } as Flag<number | undefined>,
  backlog: count('events of the backlog', 100_000, 30_000),
  rows: { ...some(ISOLATION_ROWS), quick: ['silent', 'status-line', '503'] } as Flag<readonly IsolationRow[]>,
  neighbors: counts('of the rows of the isolation', [1, 40, 200], [40]),
  heldBacklog: count('deliveries of its held, paused and parked backlogs', 2_000_000, 100_000),
  waiting: counts('deliveries of the rows of the punctuality', [500, 500_000], [500]),
  instances: count('processes of webhook-delivery', 1),
  dist: DIST,
  nodeFlags: NODE_FLAGS,
  profile: PROFILE,
  serve: SERVE,
  connections: toggle('measure only what a POST costs over http and TLS, without a stack: about two minutes'),
  redraw: toggle('measure nothing: draw docs/isolation.md again from docs/results/isolation.json'),
};

export type BenchFlags = FlagsOf<typeof FLAGS>;

export const parseBenchFlags = flagsParser(
  {
    name: 'delivery',
    description: 'Measures webhook-delivery: throughput, latency, isolation, retries and what a kill -9 does.',
    quick: 'short measurements: some five minutes',
  },
  FLAGS,
);
