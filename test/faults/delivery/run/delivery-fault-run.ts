import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { describeFault, type FaultKind } from '../../processor/schedule/fault.js';
import { createInjector, type Injector } from '../../processor/run/inject.js';
import { startReady } from '../../processor/run/stage.js';
import { judgeDeliveries, type DeliveryFindings } from '../judge/judge-deliveries.js';
import type { ReceiverCount } from '../receiver/messages.js';
import type { Receipt } from '../receiver/receipt.js';
import { PARTITIONS, RECEIPTS_FILE, type DeliveryStage } from '../stage/delivery-stage.js';
import { readLogs } from '../stage/log-reader.js';
import { makeDeliverySchedule } from './delivery-schedule.js';
import { saveObservations } from './save-observations.js';
import { followOutcomes, type Outcomes } from './outcomes.js';
import { startTraffic, type Traffic } from './traffic.js';

export interface DeliveryFaultRunOptions {
  readonly stage: DeliveryStage;
  readonly seed: number;
  readonly durationMs: number;
  readonly deliveriesPerSecond: number;
  readonly now: () => number;
  readonly note: (line: string) => void;
  /** Says every fault when it is made. */
  readonly verbose: boolean;
}

export interface DeliveryFaultRunResult extends DeliveryFindings {
  readonly seed: number;
  readonly instances: number;
  readonly faults: Readonly<Partial<Record<FaultKind, number>>>;
  readonly injected: number;
  readonly events: number;
  /** From the last event until every delivery had an outcome; null: it never came to that. */
  readonly drainedAfterMs: number | null;
}

const STARTED_INSTANCES = 2;
const REPORT_EVERY_MS = 10_000;
const POLL_MS = 500;
/** A series takes 32 s; the rest is for a broker and senders that were left behind. */
const DRAIN_WITHIN_MS = 120_000;
/** On a slow machine the schedule waits: faults on what stands still anyway prove nothing. */
const FAULTS_WITHOUT_PROGRESS = 4;
const PROGRESS_TIMEOUT_MS = 45_000;

/** Faults by schedule while events flow; then everything gets its outcome, and is judged. */
export async function deliveryFaultRun(options: DeliveryFaultRunOptions): Promise<DeliveryFaultRunResult> {
  const { stage, seed, note, now } = options;
  const { kafka, registryUrl, instances, cluster } = stage;
  await startReady(instances.slice(0, STARTED_INSTANCES));
  const outcomes = followOutcomes({ kafka, registryUrl, partitions: PARTITIONS });
  const traffic = await startTraffic({ ...options, kafka, registryUrl, subscribers: stage.subscribers });
  const skipped: string[] = [];
  const injector = createInjector({ cluster, processors: instances }, (fault, error) => {
    skipped.push(`${describeFault(fault)} could not be made: ${String(error)}`);
  });
  const injected = (): number => Object.values(injector.counts).reduce((sum, count) => sum + count, 0);
  const reporting = setInterval(() => {
    // What it could not find out this time it says the next time.
    report({ stage, traffic, outcomes, injected, note }).catch(() => undefined);
  }, REPORT_EVERY_MS);
  try {
    await play(options, injector, outcomes);
    const { events, deliveries } = await traffic.stop();
    note('  the last fault is mended; every delivery has to get its outcome now');
    const drained = await drain(stage, outcomes, deliveries, now);
    clearInterval(reporting);
    note('  judging what the receiver and the log have');
    await stage.receiver.ask({ type: 'save' });
    const logs = await readLogs({ kafka, registryUrl, partitions: PARTITIONS, subscribers: stage.subscribers });
    const { interruptions, unexpectedExits } = stage;
    const observations = { ...logs, receipts: await readReceipts(stage.file(RECEIPTS_FILE)), interruptions };
    const findings = judgeDeliveries(observations);
    if (findings.problems.length > 0) await saveObservations(observations, (name) => stage.file(name));
    return {
      ...findings,
      ...{ seed, instances: instances.length, faults: injector.counts, injected: injected(), events },
      drainedAfterMs: drained.afterMs,
      problems: [...drained.problems, ...unexpectedExits, ...skipped, ...logs.problems, ...findings.problems],
    };
  } finally {
    clearInterval(reporting);
    await outcomes.close();
  }
}

async function play(
  { stage, seed, durationMs, note, verbose }: DeliveryFaultRunOptions,
  injector: Injector,
  outcomes: Outcomes,
): Promise<void> {
  const instances = stage.instances.length;
  const schedule = makeDeliverySchedule({
    seed,
    durationMs,
    instances,
    running: Math.min(STARTED_INSTANCES, instances),
  });
  const startedAt = performance.now();
  const elapsedMs = (): number => performance.now() - startedAt;
  let heldUpMs = 0;
  for (const [index, { atMs, fault }] of schedule.entries()) {
    if (index % FAULTS_WITHOUT_PROGRESS === 0 && heldUpMs < durationMs) heldUpMs += await untilProgress(outcomes);
    await sleep(Math.max(0, atMs + heldUpMs - elapsedMs()));
    if (verbose) note(`  ${(elapsedMs() / 1_000).toFixed(1)} s ${describeFault(fault)}`);
    injector.inject(fault);
  }
  await sleep(Math.max(0, durationMs + heldUpMs - elapsedMs()));
  await injector.settled();
}

/** Waits until something more is in the log, or for a while. Resolves with the time that it took. */
async function untilProgress(outcomes: Outcomes): Promise<number> {
  const startedAt = performance.now();
  const before = await outcomes.read();
  for (;;) {
    const elapsedMs = performance.now() - startedAt;
    const { attempts } = await outcomes.read();
    if (attempts > before.attempts || elapsedMs > PROGRESS_TIMEOUT_MS) return elapsedMs;
    await sleep(POLL_MS);
  }
}

interface Drained {
  readonly afterMs: number | null;
  readonly problems: readonly string[];
}

/** Every delivery has an outcome and every instance that is meant to run is ready: within the time, or somebody is stuck. */
async function drain(
  { instances }: DeliveryStage,
  outcomes: Outcomes,
  wanted: number,
  now: () => number,
): Promise<Drained> {
  const startedMs = now();
  for (;;) {
    const { finished } = await outcomes.read();
    const unready = await Promise.all(
      instances.map(async (one) => {
        const problem = await one.problem();
        return problem === null ? [] : [`instance ${String(one.instance)} is ${problem}`];
      }),
    );
    const open = finished >= wanted ? [] : [`${String(wanted - finished)} deliveries have no outcome`];
    const problems = [...open, ...unready.flat()];
    const afterMs = now() - startedMs;
    if (problems.length === 0) return { afterMs, problems };
    if (afterMs > DRAIN_WITHIN_MS) return { afterMs: null, problems: problems.map((one) => `stuck: ${one}`) };
    await sleep(POLL_MS);
  }
}

async function readReceipts(file: string): Promise<Receipt[]> {
  const text = await readFile(file, 'utf8');
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Receipt);
}

interface Report {
  readonly stage: DeliveryStage;
  readonly traffic: Traffic;
  readonly outcomes: Outcomes;
  readonly injected: () => number;
  readonly note: (line: string) => void;
}

async function report({ stage, traffic, outcomes, injected, note }: Report): Promise<void> {
  const up = stage.instances.filter((one) => one.up).map(({ instance }) => instance);
  const { attempts, finished } = await outcomes.read();
  const { posts } = await stage.receiver.ask<ReceiverCount>({ type: 'count' });
  note(
    `  ${String(injected())} faults, ${String(traffic.sent())} events, ${String(posts)} POSTs received, ` +
      `${String(attempts)} attempts logged, ${String(finished)} deliveries finished, instances up: ${up.join(' ')}`,
  );
}
