import type { Answer } from './answer.js';
import type { BenchContext } from './bench-context.js';
import type { BenchFlags } from './bench-flags.js';
import { type MachineFacts, machineFacts } from './machine-facts.js';
import { loadBacklog } from './scenarios/backlog.js';
import { drainOnce, type DrainRun } from './scenarios/drain.js';
import { failoverOnce, type FailoverRun } from './scenarios/failover.js';
import { latencyOnce, type LatencyRun } from './scenarios/latency.js';
import { partitionsOnce, type PartitionsRun } from './scenarios/partitions.js';
import { measureRestore, type RestoreRun } from './scenarios/restore.js';
import { type Configuration, ours, theirs } from './sides/deployment.js';

/** Everything that a run of the benchmark has measured. A scenario that was not asked for has no runs. */
export interface BenchResults {
  readonly machine: MachineFacts;
  readonly backlog: { readonly pings: number; readonly devices: number };
  readonly rounds: number;
  /** What the rules make of the backlog of drain and failover; null: neither has run. */
  readonly expected: Answer | null;
  readonly drain: readonly DrainRun[];
  readonly latency: readonly LatencyRun[];
  readonly restore: readonly RestoreRun[];
  readonly failover: readonly FailoverRun[];
  /** A trickle on many partitions. */
  readonly partitions: readonly PartitionsRun[];
  /** The backlog with nothing asked for, with positions alone and with all rules, in turn. */
  readonly rules: readonly DrainRun[];
  /** What the rules for positions make of that backlog. */
  readonly rulesExpected: Answer | null;
}

const MANY_PARTITIONS = { pingsPerSecond: 5_000, devices: 20_000, processes: 4 };
const LATENCY_LOAD = { pingsPerSecond: 2_000, devices: 2_000 };
/** Above this many devices the heap of the drained backlog is too small for Kafka Streams. */
const MANY_DEVICES = 500_000;
const LARGE_HEAP_MIB = 2_048;
/** A stopped or killed member counts as gone after 45 s by default, which would be all that a restart waits for. */
const SHORT_SESSION = 'session.timeout.ms=6000';
/** That of telemetry-processor. A dead member keeps its partitions for as long. */
const SAME_SESSION = 'session.timeout.ms=7000';
/**
 * Else a process that starts second, with the state still to restore, gets no partition before the next probing rebalance,
 * which is 10 minutes later: killing it shows nothing, and killing the other a restart.
 */
const BALANCED_AT_ONCE = 'acceptable.recovery.lag=1000000000';

/** Runs every scenario that is asked for, the sides in turn. */
export async function measureAll(context: BenchContext): Promise<BenchResults> {
  const { flags } = context;
  const asked = (scenario: BenchFlags['only'][number]): boolean => flags.only.includes(scenario);
  const needsBacklog = asked('drain') || asked('failover') || asked('takeover');
  const expected = needsBacklog ? await loadBacklog(context, flags) : null;
  const drain = asked('drain')
    ? await inRounds(context, drainConfigurations(flags), (one) => drainOnce(context, one))
    : [];
  const restarts = asked('failover') ? await measureRestarts(context) : [];
  const takeovers = asked('takeover') ? await measureTakeovers(context) : [];
  const failover = [...restarts, ...takeovers];
  const latency = asked('latency')
    ? await inRounds(context, latencyConfigurations(flags), (one) =>
        latencyOnce(context, one, { ...LATENCY_LOAD, ...flags }),
      )
    : [];
  const partitions = asked('partitions') ? await measurePartitions(context) : [];
  const rules = asked('rules') ? await measureRules(context) : { rules: [], rulesExpected: null };
  const restore = asked('restore') ? await restoreAll(context) : [];
  const { pings, devices, rounds } = flags;
  const machine = await machineFacts(context.java);
  return {
    machine,
    backlog: { pings, devices },
    rounds,
    expected,
    drain,
    failover,
    latency,
    restore,
    partitions,
    ...rules,
  };
}

/** The topics have their usual width again when the last of them is over. */
async function measurePartitions(context: BenchContext): Promise<PartitionsRun[]> {
  const { processes, ...load } = MANY_PARTITIONS;
  const configurations = [ours(processes), theirs(1, { processes, note: `${String(processes)} processes` })];
  const plan = { ...load, ...context.flags };
  const runs = await inRounds(context, askedSides(context, configurations), (one) =>
    partitionsOnce(context, one, { ...plan, devices: load.devices }),
  );
  await context.topics.freshWidth();
  return runs;
}

/** In turn, as everything: both backlogs are loaded again in each round. */
async function measureRules(context: BenchContext): Promise<Pick<BenchResults, 'rules' | 'rulesExpected'>> {
  const { flags } = context;
  const configurations = ['unasked', 'positions', 'all'] as const;
  let rulesExpected: Answer | null = null;
  const rules = await inRounds(
    context,
    configurations.flatMap((rules) => flags.processes.map((count) => ours(count, rules))),
    async (one) => {
      const ask = one.rules === 'unasked' ? 'nothing' : 'everything';
      rulesExpected = await loadBacklog(context, flags, { ask, journeys: !flags.restless });
      return drainOnce(context, one);
    },
  );
  return { rules, rulesExpected };
}

/** All configurations once, then all again: what disturbs the machine for a while disturbs both sides. */
async function inRounds<T, R>(
  { reporter, flags }: BenchContext,
  configurations: readonly T[],
  run: (configuration: T) => Promise<R>,
  rounds = flags.rounds,
): Promise<R[]> {
  const runs: R[] = [];
  for (let round = 1; round <= rounds; round += 1) {
    if (rounds > 1) reporter.note(`Round ${String(round)} of ${String(rounds)}`);
    for (const configuration of configurations) runs.push(await run(configuration));
  }
  return runs;
}

function drainConfigurations({ sides, processes, threads }: BenchFlags): Configuration[] {
  return alternating(
    sides.includes('ours') ? processes.map((count) => ours(count)) : [],
    sides.includes('theirs') ? threads.map((count) => theirs(count)) : [],
  );
}

function latencyConfigurations({ sides }: BenchFlags): Configuration[] {
  return alternating(
    sides.includes('ours') ? [ours(1)] : [],
    sides.includes('theirs') ? [theirs(1, { commitMs: 20, note: 'commit 20 ms' })] : [],
  );
}

async function restoreAll(context: BenchContext): Promise<RestoreRun[]> {
  const { flags } = context;
  const runs: RestoreRun[] = [];
  for (const devices of flags.restoreDevices) {
    const heap = devices > MANY_DEVICES ? { heapMiB: LARGE_HEAP_MIB } : {};
    const configurations = alternating(
      flags.sides.includes('ours') ? flags.processes.map((count) => ours(count)) : [],
      flags.sides.includes('theirs')
        ? flags.threads.map((count) => theirs(count, { ...heap, settings: () => [SHORT_SESSION] }))
        : [],
    );
    runs.push(...(await measureRestore(context, configurations, { devices, rounds: flags.rounds })));
  }
  return runs;
}

/** Their best for a restart is static membership with RocksDB, whose process id outlives the process. */
function measureRestarts(context: BenchContext): Promise<FailoverRun[]> {
  const isStatic = { note: 'static membership', settings: (n: number) => [`group.instance.id=peer-${String(n)}`] };
  const configurations = [ours(1), theirs(1, { ...isStatic, store: 'rocksdb' }), theirs(2, isStatic)];
  return inRounds(context, askedSides(context, configurations), (one) => failoverOnce(context, one, 'restart'));
}

/** Both sides with the same session timeout and half of the partitions in each process. */
function measureTakeovers(context: BenchContext): Promise<FailoverRun[]> {
  const settings = (): string[] => [SAME_SESSION, BALANCED_AT_ONCE];
  const configurations = [ours(2), theirs(1, { note: 'session 7 s', settings, processes: 2 })];
  const kill = (one: Configuration): Promise<FailoverRun> => failoverOnce(context, one, 'takeover');
  return inRounds(context, askedSides(context, configurations), kill, context.flags.kills);
}

function askedSides({ flags }: BenchContext, configurations: readonly Configuration[]): Configuration[] {
  return configurations.filter(({ side }) => flags.sides.includes(side));
}

function alternating(ourOnes: readonly Configuration[], theirOnes: readonly Configuration[]): Configuration[] {
  const pairs = Array.from({ length: Math.max(ourOnes.length, theirOnes.length) }, (_, index) => index);
  return pairs.flatMap((index) => [ourOnes[index], theirOnes[index]].filter((one) => one !== undefined));
}
