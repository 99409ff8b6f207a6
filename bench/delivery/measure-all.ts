import type { BenchContext } from './bench-context.js';
import type { Scenario } from './bench-flags.js';
import type { BenchResults } from './bench-results.js';
import { measureBacklog } from './scenarios/backlog.js';
import { measureCapacity } from './scenarios/capacity.js';
import { measureDead, warmUpForDead, type DeadRun } from './scenarios/dead.js';
import { measureFailing } from './scenarios/failing.js';
import { measureFanOut, measureHealthy } from './scenarios/healthy.js';
import { measureKill } from './scenarios/kill.js';
import { measureLatency } from './scenarios/latency.js';
import { measureLateness } from './scenarios/lateness.js';
import { measureSlow } from './scenarios/slow.js';

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
