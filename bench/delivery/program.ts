import { join } from 'node:path';
import { projectRoot } from '../../tools/dev-stack/index.js';
import { passedOn } from '../shared/bench-config.js';
import { profileReport } from '../shared/profile.js';
import type { BenchOutcome, BenchRun } from '../shared/run-benchmark.js';
import { createApplications } from '../shared/stack/applications.js';
import { openDeliveryStack } from '../shared/stack/delivery-stack.js';
import type { BenchContext } from './bench-context.js';
import type { BenchResults } from './bench-results.js';
import type { BenchFlags, Scenario } from './bench-flags.js';
import { jsonLine } from './report/figures.js';
import { writeDocs } from './report/write-docs.js';
import { measureBacklog } from './scenarios/backlog.js';
import { type DeadRun, measureDead, measureFailing, warmUpForDead } from './scenarios/dead.js';
import { measureCapacity, measureFanOut, measureHealthy, measureSlow } from './scenarios/healthy.js';
import { measureKill } from './scenarios/kill.js';
import { measureLatency } from './scenarios/latency.js';
import { measureLateness } from './scenarios/lateness.js';
import { subscribersOf } from './stack/subscribers.js';
import { createSystem } from './stack/system.js';
import { startHarness } from './workers/harness.js';

type BenchOptions = BenchRun<BenchFlags>;

export async function runBench(options: BenchOptions): Promise<BenchOutcome> {
  const { flags, env, reporter, signal, now } = options;
  const { keep, partitions } = flags;
  const stack = await openDeliveryStack({ folder: flags.dataDir, env, reporter, signal, keep, partitions });
  const stops: (() => void | Promise<void>)[] = [() => stack.stop()];
  try {
    const environment = passedOn(env);
    const dist = flags.dist ?? join(projectRoot(), 'dist');
    const applications = createApplications({ stack, dist, environment, signal });
    const { origins, instances, history } = flags;
    const subscribers = await subscribersOf({ stack, applications, reporter, origins });
    const harness = await startHarness({ stack, environment, ports: subscribers.ports });
    stops.push(() => {
      harness.stop();
    });
    const profileDir = stack.file('profile');
    const nodeFlags = [...flags.nodeFlags, ...(flags.profile ? ['--cpu-prof', `--cpu-prof-dir=${profileDir}`] : [])];
    const system = createSystem({ stack, applications, instances, history, nodeFlags });
    stops.push(() => system.stop());
    const results = await measureAll({ flags, stack, subscribers, system, harness, reporter, signal, now });
    await system.stop();
    if (flags.profile) reporter.note(await profileReport(profileDir));
    if (flags.writeDocs) await writeDocs(flags, results);
    return { line: jsonLine(results) };
  } finally {
    for (const stop of stops.reverse()) await stop();
  }
}

const NEED_RATE: readonly Scenario[] = ['latency', 'dead', 'failing'];
/** With 30 % of the endpoints at five attempts, an event makes 2.2 attempts. */
const FAILING_PART_OF_RATE = 1 / 2.2;

/** Runs every scenario that is asked for, one after another on the same system. */
export async function measureAll(context: BenchContext): Promise<BenchResults> {
  const { only, halfRate, quick } = context.flags;
  const asked = (scenario: Scenario): boolean => only.includes(scenario);
  const when = async <T>(scenario: Scenario, measure: () => Promise<T>): Promise<T | null> =>
    asked(scenario) ? measure() : null;

  const capacity = await when('capacity', () => measureCapacity(context));
  const needsMaximum = halfRate === undefined && NEED_RATE.some(asked);
  const healthy = asked('healthy') || needsMaximum ? await measureHealthy(context) : null;
  const perSecond = halfRate ?? (healthy?.deliveriesPerSecond ?? 0) / 2;
  const latency = await when('latency', () => measureLatency(context, perSecond));
  const fanOut = await when('fan-out', () => measureFanOut(context));
  const slow = await when('slow', () => measureSlow(context));
  const dead = (await when('dead', () => measureAllDead(context, perSecond, quick))) ?? [];
  const failing = await when('failing', () => measureFailing(context, perSecond * FAILING_PART_OF_RATE));
  const lateness = await when('lateness', () => measureLateness(context));
  const kill = await when('kill', () => measureKill(context));
  const backlog = await when('backlog', () => measureBacklog(context));
  return { capacity, healthy, latency, fanOut, slow, dead, failing, backlog, lateness, kill };
}

async function measureAllDead(context: BenchContext, perSecond: number, quick: boolean): Promise<DeadRun[]> {
  const runs: DeadRun[] = [];
  await warmUpForDead(context, perSecond);
  for (const kind of quick ? (['silent'] as const) : (['silent', 'refuse'] as const))
    for (const share of quick ? [0.2] : [0.01, 0.2]) runs.push(await measureDead(context, { kind, share, perSecond }));
  return runs;
}
