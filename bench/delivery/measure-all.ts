import type { BenchContext } from './bench-context.js';
import type { Scenario } from './bench-flags.js';
import { type BacklogRun, measureBacklog } from './scenarios/backlog.js';
import { type CapacityRun, measureCapacity } from './scenarios/capacity.js';
import { type FailingRun, measureFailing } from './scenarios/failing.js';
import { measureFanOut, measureHealthy, measureSlow, type ThroughputRun } from './scenarios/healthy.js';
import { type IsolationResults, measureDead, measureIsolation } from './scenarios/isolation.js';
import { type KillRun, measureKill } from './scenarios/kill.js';
import { type LatencyRun, measureLatency } from './scenarios/latency.js';
import { type LatenessRun, measureLateness } from './scenarios/lateness.js';
import type { BesideRun } from './scenarios/neighbors.js';
import { measureStages, type StagesRun } from './scenarios/stages.js';

/** Everything that a run of the benchmark has measured; null: it was not asked for. */
export interface BenchResults extends IsolationResults {
  readonly capacity: CapacityRun | null;
  readonly healthy: ThroughputRun | null;
  readonly latency: LatencyRun | null;
  readonly fanOut: ThroughputRun | null;
  readonly slow: ThroughputRun | null;
  readonly dead: readonly BesideRun[];
  readonly failing: FailingRun | null;
  readonly lateness: LatenessRun | null;
  readonly kill: KillRun | null;
  readonly stages: readonly StagesRun[];
  readonly backlog: BacklogRun | null;
}

const NEED_RATE: readonly Scenario[] = ['latency', 'dead', 'failing'];
/** With 30 % of the endpoints at five attempts, an event makes 2.2 attempts. */
const FAILING_PART_OF_RATE = 1 / 2.2;

type Progress = (results: IsolationResults) => Promise<void>;

/** Runs every scenario that is asked for, one after another on the same system. */
export async function measureAll(context: BenchContext, onProgress: Progress): Promise<BenchResults> {
  const { only, halfRate } = context.flags;
  const asked = (scenario: Scenario): boolean => only.includes(scenario);
  const when = async <T>(scenario: Scenario, measure: () => Promise<T>): Promise<T | null> =>
    asked(scenario) ? measure() : null;

  const capacity = await when('capacity', () => measureCapacity(context));
  const needsMaximum = halfRate === undefined && NEED_RATE.some(asked);
  const healthy = asked('healthy') || needsMaximum ? await measureHealthy(context) : null;
  const perSecond = halfRate ?? (healthy?.deliveriesPerSecond ?? 0) / 2;
  return {
    capacity,
    healthy,
    latency: await when('latency', () => measureLatency(context, perSecond)),
    fanOut: await when('fan-out', () => measureFanOut(context)),
    slow: await when('slow', () => measureSlow(context)),
    dead: (await when('dead', () => measureDead(context, perSecond))) ?? [],
    failing: await when('failing', () => measureFailing(context, perSecond * FAILING_PART_OF_RATE)),
    lateness: await when('lateness', () => measureLateness(context)),
    stages: (await when('stages', () => measureStages(context))) ?? [],
    kill: await when('kill', () => measureKill(context)),
    backlog: await when('backlog', () => measureBacklog(context)),
    // Last: it leaves a backlog behind.
    ...(asked('isolation') || asked('punctuality')
      ? await measureIsolation(context, { hasNeighbors: asked('isolation'), onProgress })
      : { isolation: [], punctuality: [] }),
  };
}
