import { count, type FlagsOf, flagsParser } from '../shared/bench-flags.js';

const FLAGS = { deliveries: count('of fifteen days', 10_000_000, 300_000), pages: count('of each kind', 1_000, 100) };

export type BenchFlags = FlagsOf<typeof FLAGS>;

export const parseBenchFlags = flagsParser(
  {
    name: 'history',
    description:
      'Measures the delivery history: projection, pages, retention and room, at the size of fifteen busy days.',
    quick: '300,000 deliveries: some two minutes',
  },
  FLAGS,
);
