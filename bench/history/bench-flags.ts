import { Command } from 'commander';
import { parseCount, parseFlags, parseNumber } from '../shared/bench-flags.js';

export interface BenchFlags {
  readonly quick: boolean;
  readonly deliveries: number;
  /** Of each kind of page. */
  readonly pages: number;
  /** Rows of the naive table; 0: without it. */
  readonly naive: number;
  readonly partitions: number;
  readonly batchSize: number;
  readonly dataDir: string;
  readonly keep: boolean;
  readonly writeDocs: boolean;
}

const FULL = { deliveries: 10_000_000, pages: 1_000, naive: 2_000_000 };
const QUICK = { deliveries: 300_000, pages: 100, naive: 100_000 };

/** `configure` lets a test keep commander from ending the process. */
export function parseBenchFlags(
  args: readonly string[],
  configure: (command: Command) => void = () => undefined,
): BenchFlags {
  const command = new Command('npm run bench:history --')
    .description(
      'Measures the delivery history: projection, pages, retention and room, at the size of fifteen busy days.',
    )
    .option('--quick', '300,000 deliveries: some two minutes', false)
    .option('--deliveries <n>', 'of fifteen days (default: 10000000, quick 300000)', parseCount)
    .option('--pages <n>', 'of each kind (default: 1000, quick 100)', parseCount)
    .option('--naive <n>', 'rows of the naive table, 0: without it (default: 2000000, quick 100000)', parseNumber)
    .option('--partitions <n>', 'of the log, projected in turn', parseCount, 4)
    .option('--batch-size <n>', 'attempts in a transaction', parseCount, 2_000)
    .option('--data-dir <dir>', 'the database of the benchmark; up to 30 GB', '.waypost/bench-history')
    .option('--keep', 'keep the data for the next run, and use what a former run has kept', false)
    .option('--write-docs', 'write the results to docs/benchmarks.md with its figure', false);
  configure(command);
  return parseFlags<BenchFlags, keyof typeof FULL>(command, args, { full: FULL, quick: QUICK });
}
