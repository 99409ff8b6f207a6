import { Command, InvalidArgumentError } from 'commander';

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

type GivenFlags = Omit<BenchFlags, keyof typeof FULL> & Partial<typeof FULL>;

/** Parses the command line; `--help` and mistakes end as commander ends them, with exit codes 0 and 1. */
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
    .option('--write-docs', 'write the results to docs/benchmarks.md with its figure', false)
    .allowExcessArguments(false);
  configure(command);
  command.parse(args, { from: 'user' });
  const given = command.opts<GivenFlags>();
  return { ...(given.quick ? QUICK : FULL), ...given };
}

function parseNumber(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError('It must be a whole number.');
  return Number(text);
}

function parseCount(text: string): number {
  const count = parseNumber(text);
  if (count < 1) throw new InvalidArgumentError('It must be a whole number from 1 on.');
  return count;
}
