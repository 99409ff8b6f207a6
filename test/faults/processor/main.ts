/*
 * The fault suite of telemetry-processor: `npm run test:integrity -- --seed 7 --minutes 5`. See README.md.
 */
import { describeResult } from '../shared/fault-run.js';
import { FlagError, runFaultSuite, type SuiteContext } from '../shared/fault-suite.js';
import { failoverProblems, type FailoverTimes, measureFailover } from './failover.js';
import { faultRun, type FaultRunResult } from './fault-run.js';
import { openStage, type Stage } from './stage.js';
import { offsetExpiry } from './standstills/offset-expiry.js';
import { partitionGrowth } from './standstills/partition-growth.js';
import type { Standstill } from './standstills/standstill.js';
import { uncleanElection } from './standstills/unclean-election.js';

const STANDSTILLS = {
  'offset-expiry': { brokers: 1, work: offsetExpiry },
  'partition-growth': { brokers: 1, work: partitionGrowth },
  'unclean-election': { brokers: 3, work: uncleanElection },
} as const;

/** The last line of the suite. */
export interface Verdict {
  readonly seed: number;
  readonly injected: number;
  readonly runs: readonly FaultRunResult[];
  readonly failover: FailoverTimes | null;
  /** By case. */
  readonly standstills: Readonly<Record<string, Standstill>>;
  readonly problems: readonly string[];
}

type RunName = 'failover' | 'single' | 'cluster' | 'standstills';

const ALL_RUNS: readonly RunName[] = ['failover', 'single', 'cluster', 'standstills'];
/** A cluster has more to lose and takes longer to recover: it gets the larger share of the time. */
const SHARE = { failover: 0, single: 0.4, cluster: 0.6, standstills: 0 } as const;

const INTACT = 'nothing missing, nothing twice, order kept';

await runFaultSuite({
  name: 'integrity',
  verdictKey: 'integrity',
  flags: { minutes: '8', runs: ALL_RUNS.join(','), standstills: Object.keys(STANDSTILLS).join(',') },
  run: runAll,
});

/** The runs of `--runs` one after the other, each on a cluster of its own. */
async function runAll(suite: SuiteContext): Promise<Verdict> {
  const { seed, note } = suite;
  const runs = ALL_RUNS.filter((run) => suite.text('runs').split(',').includes(run));
  if (runs.join(',') !== suite.text('runs')) throw new FlagError(`--runs must be a list of ${ALL_RUNS.join(', ')}.`);
  const total = runs.reduce((sum, run) => sum + SHARE[run], 0);
  const results: FaultRunResult[] = [];
  let failover: FailoverTimes | null = null;
  let standstills: Readonly<Record<string, Standstill>> = {};
  for (const run of runs) {
    if (run === 'failover') {
      failover = await withStage(suite, { name: run, brokers: 1 }, (stage) => measureFailover(suite, stage));
      if (failover.busyMachine) note('The machine is busy with other work: the failover times are not judged.');
      continue;
    }
    if (run === 'standstills') {
      standstills = await allStandstills(suite);
      continue;
    }
    const durationMs = (suite.number('minutes', 0.01) * 60_000 * SHARE[run]) / total;
    const where = run === 'single' ? 'one broker' : 'three brokers';
    note(`Faults on ${where} for ${String(Math.round(durationMs / 1_000))} s, seed ${String(seed)}`);
    const brokers = run === 'single' ? 1 : 3;
    const result = await withStage(suite, { name: run, brokers }, (stage) => faultRun(suite, stage, { durationMs }));
    results.push(result);
    for (const line of describeRun(result)) note(line);
  }
  const problems = [
    ...(failover === null ? [] : failoverProblems(failover)),
    ...results.flatMap((run) => run.problems),
    ...Object.entries(standstills).flatMap(([name, one]) => one.problems.map((problem) => `${name}: ${problem}`)),
  ];
  const injected = results.reduce((sum, run) => sum + run.injected, 0);
  return { seed, injected, runs: results, failover, standstills, problems };
}

/** One after the other, on a cluster of its own each: none of them can go on as before. */
async function allStandstills(suite: SuiteContext): Promise<Record<string, Standstill>> {
  const results: Record<string, Standstill> = {};
  for (const [name, { brokers, work }] of Object.entries(STANDSTILLS)) {
    if (!suite.text('standstills').split(',').includes(name)) continue;
    suite.note(`Standstill by ${name}, seed ${String(suite.seed)}`);
    const result = await withStage(suite, { name, brokers }, (stage) => work(suite, stage));
    for (const line of describeResult(
      {},
      [JSON.stringify({ ...result, problems: undefined })],
      result.problems,
      // Only a judgment knows the output.
      result.events === undefined ? 'nothing went on by itself' : INTACT,
    ))
      suite.note(line);
    results[name] = result;
  }
  return results;
}

function withStage<T>(
  suite: SuiteContext,
  { name, brokers }: { readonly name: string; readonly brokers: 1 | 3 },
  work: (stage: Stage) => Promise<T>,
): Promise<T> {
  const program = suite.program('telemetry-processor');
  return suite.inPlace(name, async (place) => {
    const title = `Starting ${brokers === 1 ? 'a broker' : 'three brokers and a controller'}`;
    const stage = await suite.during(title, () => openStage(place, { brokers, program }));
    try {
      return await work(stage);
    } finally {
      await stage.stop();
    }
  });
}

function describeRun(run: FaultRunResult): string[] {
  const { faults, injected, seed, pings, events, rejections, devices, drainedAfterMs, problems } = run;
  const drained =
    drainedAfterMs === null ? 'never drained' : `drained ${String(drainedAfterMs)} ms after the last fault`;
  const summary =
    `${String(injected)} faults, seed ${String(seed)}; ${String(pings)} pings, ${String(events)} events, ` +
    `${String(rejections)} rejected, ${String(devices)} devices; ${drained}`;
  return describeResult(faults, [summary], problems, `${INTACT}, no process stuck`);
}
