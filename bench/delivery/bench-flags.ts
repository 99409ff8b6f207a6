import { Command } from 'commander';
import { listOf, oneOf, parseCount, parseFlags, parseWords } from '../shared/bench-flags.js';

export const SCENARIOS = [
  'capacity',
  'healthy',
  'latency',
  'fan-out',
  'slow',
  'dead',
  'failing',
  'backlog',
  'lateness',
  'kill',
] as const;
export type Scenario = (typeof SCENARIOS)[number];

export interface BenchFlags {
  readonly quick: boolean;
  readonly only: readonly Scenario[];
  /** Of a measurement, after a warm-up. */
  readonly seconds: number;
  readonly warmUpSeconds: number;
  /** Deliveries a second where half of the maximum is asked for; undefined: half of what this run has measured. */
  readonly halfRate: number | undefined;
  /** Of a load that goes by what is delivered. */
  readonly underWay: number;
  readonly backlog: number;
  readonly instances: number;
  readonly partitions: number;
  readonly origins: number;
  readonly history: boolean;
  readonly dataDir: string;
  readonly dist: string | undefined;
  readonly nodeFlags: readonly string[];
  readonly profile: boolean;
  readonly keep: boolean;
  readonly serve: boolean;
  readonly writeDocs: boolean;
}

const FULL = { seconds: 20, warmUpSeconds: 8, backlog: 100_000 };
const QUICK = { seconds: 6, warmUpSeconds: 4, backlog: 30_000 };

/** `configure` lets a test keep commander from ending the process. */
export function parseBenchFlags(
  args: readonly string[],
  configure: (command: Command) => void = () => undefined,
): BenchFlags {
  const command = new Command('npm run bench:delivery --')
    .description('Measures webhook-delivery: throughput, latency, isolation, retries and what a kill -9 does.')
    .option('--quick', 'short measurements: some four minutes', false)
    .option('--only <list>', `some of ${SCENARIOS.join(',')}`, listOf(oneOf(SCENARIOS)), [...SCENARIOS])
    .option('--seconds <n>', 'of a measurement (default: 20, quick 6)', parseCount)
    .option('--warm-up-seconds <n>', 'before it (default: 8, quick 4)', parseCount)
    .option('--half-rate <n>', 'deliveries/s where half of the maximum is asked for (default: as measured)', parseCount)
    .option('--under-way <n>', 'events between commit and receipt at the maximum', parseCount, 4_000)
    .option('--backlog <n>', 'events of the backlog (default: 100000, quick 30000)', parseCount)
    .option('--instances <n>', 'processes of webhook-delivery', parseCount, 1)
    .option('--partitions <n>', 'of every topic; only for a new stack', parseCount, 4)
    .option('--origins <n>', 'ports of the 100 endpoints; only for a new stack', parseCount, 100)
    .option('--no-history', 'without history-projector and its writes to PostgreSQL')
    .option('--data-dir <dir>', 'the stack of the benchmark', '.waypost/bench-delivery')
    .option('--dist <dir>', 'another build of the applications than the one of this checkout')
    .option('--node-flags <flags>', 'flags of Node for webhook-delivery', parseWords, [])
    .option('--profile', 'say where the CPU time of webhook-delivery goes', false)
    .option('--keep', 'keep the data for the next run, and use what a former run has kept', false)
    .option('--serve', 'only start the stack and keep it running: runs on the same data directory use it', false)
    .option('--write-docs', 'write the results to docs/benchmarks.md with its figure', false);
  configure(command);
  return parseFlags<BenchFlags, keyof typeof FULL>(command, args, { full: FULL, quick: QUICK });
}
