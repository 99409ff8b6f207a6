import { until } from '../../support/until.js';
import { SESSION_TIMEOUT_MS } from '../shared/app-instance.js';
import { createFaultInjector, type Fault } from '../shared/fault.js';
import { type FaultCounts, runFaults, type Scheduled } from '../shared/fault-run.js';
import type { SuiteContext } from '../shared/fault-suite.js';
import { makeSchedule } from '../shared/schedule.js';
import { PARTITIONS } from '../shared/stage.js';
import { judge, type Judgment } from './judge.js';
import { committedPosition, inputLag, whatIsLeft } from './progress.js';
import { INSTANCES, NAMED_INSTANCES, type Stage } from './stage.js';
import { startTraffic } from './traffic.js';

export interface FaultRunResult extends Judgment {
  readonly seed: number;
  readonly brokers: number;
  readonly faults: FaultCounts;
  readonly injected: number;
  /** From the last fault until all input was committed; null: it never was. */
  readonly drainedAfterMs: number | null;
}

const FLEET = 'integrity';
const OTHER_FLEET = 'other-integrity';
const STARTED_INSTANCES = [0, 1];
const DRAIN_WITHIN_MS = 60_000;
const VEHICLES = 240;
const PINGS_PER_SECOND = 400;
/** Fewer would prove little. */
const LEAST_PINGS_PER_SECOND = 100;
const CATCH_UP_WITHIN_MS = 60_000;

export interface FaultRunOptions {
  readonly durationMs: number;
  /** Default: by the seed. */
  readonly schedule?: readonly Scheduled<Fault>[];
  /** Default: two of them. */
  readonly startedInstances?: readonly number[];
  readonly pingsPerSecond?: number;
  readonly secondReader?: boolean;
}

/** Faults by schedule while traffic flows; then everything is restored, drained and judged. */
export async function faultRun(suite: SuiteContext, stage: Stage, options: FaultRunOptions): Promise<FaultRunResult> {
  const { durationMs, startedInstances = STARTED_INSTANCES, secondReader = true } = options;
  const { seed } = suite;
  const { kafka, registryUrl, brokers, processors } = stage;
  await stage.start(startedInstances);
  const traffic = await startTraffic({
    kafka,
    registryUrl,
    fleetId: FLEET,
    otherFleetId: OTHER_FLEET,
    seed,
    vehicles: VEHICLES,
    pingsPerSecond: options.pingsPerSecond ?? PINGS_PER_SECOND,
  });
  const injector = createFaultInjector(stage);
  const { drained } = await runFaults({
    suite,
    durationMs,
    injector,
    drainWithinMs: DRAIN_WITHIN_MS,
    schedule:
      options.schedule ??
      makeSchedule({
        seed,
        durationMs,
        brokers,
        instances: INSTANCES,
        running: startedInstances.length,
        namedInstances: NAMED_INSTANCES,
        partitions: PARTITIONS,
        sessionTimeoutMs: SESSION_TIMEOUT_MS,
        everyMs: brokers === 1 ? 2_500 : 3_500,
      }),
    required: ['processor-kill', 'processor-pause', 'broker-kill', 'network-cut', 'coordinator-kill'],
    position: () => committedPosition(kafka),
    report: async () => {
      const up = processors.filter((processor) => processor.up).map(({ instance }) => instance);
      const lag = (await inputLag(kafka)) ?? '?';
      return `  ${String(injector.injected())} faults, ${String(traffic.published())} pings, lag ${String(lag)}, instances up: ${up.join(' ')}`;
    },
    stopTraffic: async () => {
      // Brokers that were away or full for most of a short run have confirmed few records: the rest follows now.
      await until(() => traffic.published() >= (durationMs / 1_000) * LEAST_PINGS_PER_SECOND, {
        timeoutMs: CATCH_UP_WITHIN_MS,
      });
      return traffic.stop();
    },
    whatIsLeft: () => whatIsLeft(kafka, processors),
  });
  const judgment = await judge({ kafka, registryUrl, published: traffic.published(), secondReader });
  return {
    seed,
    brokers,
    faults: injector.counts,
    injected: injector.injected(),
    ...judgment,
    drainedAfterMs: drained.afterMs,
    problems: [...drained.problems, ...stage.unexpectedExits, ...injector.problems, ...judgment.problems],
  };
}
