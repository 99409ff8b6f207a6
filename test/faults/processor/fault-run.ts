import { SESSION_TIMEOUT_MS } from '../shared/app-instance.js';
import { createFaultInjector, type Fault } from '../shared/fault.js';
import { type FaultCounts, play, type Scheduled } from '../shared/fault-run.js';
import { makeSchedule } from '../shared/schedule.js';
import { judge } from './judge.js';
import { committedPosition, drainInput, inputLag } from './progress.js';
import { INSTANCES, NAMED_INSTANCES, PARTITIONS, type Stage } from './stage.js';
import { startTraffic } from './traffic.js';

export interface FaultRunOptions {
  readonly stage: Stage;
  readonly seed: number;
  /** Of the schedule; traffic flows all the time. */
  readonly durationMs: number;
  readonly note: (line: string) => void;
  /** Says every fault when it is made. */
  readonly verbose: boolean;
}

export interface FaultRunResult {
  readonly seed: number;
  readonly brokers: number;
  readonly faults: FaultCounts;
  readonly injected: number;
  readonly pings: number;
  readonly events: number;
  readonly rejections: number;
  readonly devices: number;
  /** From the last mended fault until all input was committed; null: it never was. */
  readonly drainedAfterMs: number | null;
  /** Empty: exactly once, in order, and nobody stuck. */
  readonly problems: readonly string[];
}

const FLEET = 'integrity';
const STARTED_INSTANCES = [0, 1];
const REPORT_EVERY_MS = 10_000;
const DRAIN_WITHIN_MS = 60_000;
const VEHICLES = 240;
const PINGS_PER_SECOND = 400;

/** Faults by schedule while traffic flows; then everything is mended, drained and judged. */
export async function faultRun(options: FaultRunOptions): Promise<FaultRunResult> {
  const { stage, seed, durationMs, note, verbose } = options;
  const { kafka, registryUrl, brokers, cluster, processors } = stage;
  await stage.start(STARTED_INSTANCES);
  const traffic = await startTraffic({
    kafka,
    registryUrl,
    fleetId: FLEET,
    seed,
    vehicles: VEHICLES,
    pingsPerSecond: PINGS_PER_SECOND,
  });
  const injector = createFaultInjector({ cluster, processors });
  const report = async (): Promise<void> => {
    const up = processors.filter((processor) => processor.up).map(({ instance }) => instance);
    const lag = await inputLag(kafka);
    note(
      `  ${String(injector.injected())} faults, ${String(traffic.published)} pings, lag ${lag === null ? '?' : String(lag)}, instances up: ${up.join(' ')}`,
    );
  };
  const reporting = setInterval(() => void report(), REPORT_EVERY_MS);
  try {
    await play({
      ...{ schedule: scheduleFor(options), durationMs, injector, note, verbose },
      position: () => committedPosition(kafka),
    });
    await traffic.stop();
    note('  the last fault is mended; everything has to be committed now');
    const drained = await drainInput(kafka, processors, DRAIN_WITHIN_MS);
    clearInterval(reporting);
    const judgement = await judge({
      kafka,
      registryUrl,
      partitions: PARTITIONS,
      fleetId: FLEET,
      published: traffic.published,
    });
    return {
      seed,
      brokers,
      faults: injector.counts,
      injected: injector.injected(),
      ...judgement,
      drainedAfterMs: drained.afterMs,
      problems: [...drained.problems, ...stage.unexpectedExits, ...injector.problems, ...judgement.problems],
    };
  } finally {
    clearInterval(reporting);
  }
}

function scheduleFor({ stage, seed, durationMs }: FaultRunOptions): Scheduled<Fault>[] {
  return makeSchedule({
    seed,
    durationMs,
    brokers: stage.brokers,
    instances: INSTANCES,
    running: STARTED_INSTANCES.length,
    namedInstances: NAMED_INSTANCES,
    partitions: PARTITIONS,
    sessionTimeoutMs: SESSION_TIMEOUT_MS,
    everyMs: stage.brokers === 1 ? 2_500 : 3_500,
  });
}
