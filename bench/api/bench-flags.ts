import { count, DIST, type FlagsOf, flagsParser, NODE_FLAGS, PROFILE, some } from '../shared/bench-flags.js';

/** What is called, one after the other. */
const CALLS = ['v1-page', 'v2-page', 'v2-event', 'subscription'] as const;
export type CallName = (typeof CALLS)[number];

const FLAGS = {
  only: some(CALLS),
  callers: count('connections, each with one request at a time', 32),
  seconds: count('of a measurement, after a warm-up', 20, 5),
  warmUpSeconds: count('before it', 5, 2),
  deliveries: count('in the table, over all fleets', 120_000, 20_000),
  dist: DIST,
  nodeFlags: NODE_FLAGS,
  profile: PROFILE,
};

export type BenchFlags = FlagsOf<typeof FLAGS>;

export const parseBenchFlags = flagsParser(
  {
    name: 'api',
    description: 'Measures public-api: requests per second, latency and CPU time, and reports where the time goes.',
    quick: 'short measurements: about a minute',
  },
  FLAGS,
);
