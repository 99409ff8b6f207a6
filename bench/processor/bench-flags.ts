import { Command } from 'commander';
import { listOf, oneOf, parseCount, parseFlags, parseWords } from '../shared/bench-flags.js';

export const SCENARIOS = ['drain', 'latency', 'restore', 'failover', 'rules'] as const;
export type Scenario = (typeof SCENARIOS)[number];
export const SIDES = ['ours', 'theirs'] as const;
export type SideChoice = (typeof SIDES)[number];

export interface BenchFlags {
  readonly quick: boolean;
  readonly pings: number;
  readonly devices: number;
  readonly rounds: number;
  readonly only: readonly Scenario[];
  readonly sides: readonly SideChoice[];
  /** Of ours in the drained backlog. */
  readonly processes: readonly number[];
  /** Of theirs in the drained backlog and the restore. */
  readonly threads: readonly number[];
  readonly restoreDevices: readonly number[];
  /** Of latency: how long it is measured, after a warm-up. */
  readonly seconds: number;
  readonly warmUpSeconds: number;
  /** Of all rules: the backlog of the other scenarios, in which every vehicle starts and stops every seven minutes. */
  readonly restless: boolean;
  readonly dataDir: string;
  readonly dist: string | undefined;
  readonly nodeFlags: readonly string[];
  readonly keep: boolean;
  readonly serve: boolean;
  readonly writeDocs: boolean;
}

const FULL = { pings: 5_000_000, rounds: 3, restoreDevices: [200_000, 2_000_000], seconds: 45, warmUpSeconds: 15 };
const QUICK = { pings: 1_000_000, rounds: 1, restoreDevices: [200_000], seconds: 15, warmUpSeconds: 8 };

/** `configure` lets a test keep commander from ending the process. */
export function parseBenchFlags(
  args: readonly string[],
  configure: (command: Command) => void = () => undefined,
): BenchFlags {
  const command = new Command('npm run bench:processor --')
    .description('Measures telemetry-processor beside the same work on Kafka Streams, on one broker and in one run.')
    .option('--quick', 'fewer pings, one round, 200,000 devices: some three minutes', false)
    .option('--pings <n>', 'the backlog (default: 5000000, quick 1000000)', parseCount)
    .option('--devices <n>', 'of the backlog', parseCount, 20_000)
    .option('--rounds <n>', 'how often each figure is taken (default: 3, quick 1)', parseCount)
    .option('--only <list>', `some of ${SCENARIOS.join(',')}`, listOf(oneOf(SCENARIOS)), [...SCENARIOS])
    .option('--sides <list>', `some of ${SIDES.join(',')}`, listOf(oneOf(SIDES)), [...SIDES])
    .option('--processes <list>', 'process counts of ours', listOf(parseCount), [1, 2])
    .option('--threads <list>', 'thread counts of Kafka Streams', listOf(parseCount), [1, 2])
    .option('--restore-devices <list>', 'sizes of the restored state', listOf(parseCount))
    .option('--seconds <n>', 'of the latency measurement', parseCount)
    .option('--warm-up-seconds <n>', 'before the latency measurement', parseCount)
    .option('--restless', 'all rules: vehicles that start and stop every seven minutes', false)
    .option('--data-dir <dir>', 'the stack of the benchmark', '.waypost/bench-processor')
    .option('--dist <dir>', 'another build of telemetry-processor than the one of this checkout')
    .option('--node-flags <flags>', 'flags of Node for telemetry-processor', parseWords, [])
    .option('--keep', 'keep the data for the next run, and use what a former run has kept', false)
    .option('--serve', 'only start the stack and keep it running: runs on the same data directory use it', false)
    .option('--write-docs', 'write the results to docs/benchmarks.md with its figure', false);
  configure(command);
  return parseFlags<BenchFlags, keyof typeof FULL>(command, args, { full: FULL, quick: QUICK });
}
