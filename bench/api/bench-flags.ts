import { Command } from 'commander';
import { listOf, oneOf, parseCount, parseFlags, parseWords } from '../shared/bench-flags.js';

/** What is called; each for itself, one after the other. */
export const CALLS = ['v1-page', 'v2-page', 'v2-event', 'subscription'] as const;
export type CallName = (typeof CALLS)[number];

export interface BenchFlags {
  readonly quick: boolean;
  readonly only: readonly CallName[];
  readonly callers: number;
  /** Of a measurement, after a warm-up. */
  readonly seconds: number;
  readonly warmUpSeconds: number;
  /** In the table, over all fleets. */
  readonly deliveries: number;
  readonly dataDir: string;
  readonly dist: string | undefined;
  readonly nodeFlags: readonly string[];
  readonly profile: boolean;
  readonly keep: boolean;
  readonly writeDocs: boolean;
}

const FULL = { seconds: 20, warmUpSeconds: 5, deliveries: 120_000 };
const QUICK = { seconds: 5, warmUpSeconds: 2, deliveries: 20_000 };

/** `configure` lets a test keep commander from ending the process. */
export function parseBenchFlags(
  args: readonly string[],
  configure: (command: Command) => void = () => undefined,
): BenchFlags {
  const command = new Command('npm run bench:api --')
    .description('Measures public-api: requests a second, latency and CPU time, and says where the time goes.')
    .option('--quick', 'short measurements: about a minute', false)
    .option('--only <list>', `some of ${CALLS.join(',')}`, listOf(oneOf(CALLS)), [...CALLS])
    .option('--callers <n>', 'connections, each with one request at a time', parseCount, 32)
    .option('--seconds <n>', 'of a measurement (default: 20, quick 5)', parseCount)
    .option('--warm-up-seconds <n>', 'before it (default: 5, quick 2)', parseCount)
    .option('--deliveries <n>', 'in the table (default: 120000, quick 20000)', parseCount)
    .option('--data-dir <dir>', 'the stack of the benchmark', '.waypost/bench-api')
    .option('--dist <dir>', 'another build of public-api than the one of this checkout')
    .option('--node-flags <flags>', 'flags of Node for public-api', parseWords, [])
    .option('--profile', 'say where the CPU time of public-api goes, call by call', false)
    .option('--keep', 'keep the data for the next run, and use what a former run has kept', false)
    .option('--write-docs', 'write the results to docs/benchmarks.md', false);
  configure(command);
  return parseFlags<BenchFlags, keyof typeof FULL>(command, args, { full: FULL, quick: QUICK });
}
