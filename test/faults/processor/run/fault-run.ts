import { setTimeout as sleep } from 'node:timers/promises';
import { judge } from '../judge/judge.js';
import { describeFault, type FaultKind } from '../schedule/fault.js';
import { makeSchedule } from '../schedule/make-schedule.js';
import { startTraffic } from '../traffic/traffic.js';
import { createInjector, type Injector } from './inject.js';
import { inputLag, untilProgress, waitUntilDrained } from './progress.js';
import { INSTANCES, NAMED_INSTANCES, PARTITIONS, SESSION_TIMEOUT_MS, type Stage } from './stage.js';

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
  readonly faults: Readonly<Partial<Record<FaultKind, number>>>;
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
/** On a slow machine the schedule waits: faults on what stands still anyway prove nothing. */
const FAULTS_WITHOUT_PROGRESS = 4;
const VEHICLES = 240;
const PINGS_PER_SECOND = 400;

/** Faults by schedule while traffic flows; then everything is mended, drained and judged. */
export async function faultRun(options: FaultRunOptions): Promise<FaultRunResult> {
  const { stage, seed, note } = options;
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
  const skipped: string[] = [];
  const injector = createInjector({ cluster, processors }, (fault, error) => {
    skipped.push(`${describeFault(fault)} could not be made: ${String(error)}`);
  });
  const injected = (): number => Object.values(injector.counts).reduce((sum, count) => sum + count, 0);
  const report = async (): Promise<void> => {
    const up = processors.filter((processor) => processor.up).map(({ instance }) => instance);
    const lag = await inputLag(kafka);
    note(
      `  ${String(injected())} faults, ${String(traffic.published)} pings, lag ${lag === null ? '?' : String(lag)}, instances up: ${up.join(' ')}`,
    );
  };
  const reporting = setInterval(() => void report(), REPORT_EVERY_MS);
  try {
    await play(options, injector);
    await traffic.stop();
    note('  the last fault is mended; everything has to be committed now');
    const drained = await waitUntilDrained(kafka, processors, DRAIN_WITHIN_MS);
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
      injected: injected(),
      ...judgement,
      drainedAfterMs: drained.afterMs === null ? null : Math.round(drained.afterMs),
      problems: [...drained.problems, ...stage.unexpectedExits, ...skipped, ...judgement.problems],
    };
  } finally {
    clearInterval(reporting);
  }
}

async function play({ stage, seed, durationMs, note, verbose }: FaultRunOptions, injector: Injector): Promise<void> {
  const schedule = makeSchedule({
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
  const startedAt = performance.now();
  let heldUpMs = 0;
  for (const [index, { atMs, fault }] of schedule.entries()) {
    if (index % FAULTS_WITHOUT_PROGRESS === 0 && heldUpMs < durationMs) heldUpMs += await untilProgress(stage.kafka);
    await sleep(Math.max(0, atMs + heldUpMs - (performance.now() - startedAt)));
    if (verbose) note(`  ${((performance.now() - startedAt) / 1_000).toFixed(1)} s ${describeFault(fault)}`);
    injector.inject(fault);
  }
  await sleep(Math.max(0, durationMs + heldUpMs - (performance.now() - startedAt)));
  await injector.settled();
}
