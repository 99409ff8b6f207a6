import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { SESSION_TIMEOUT_MS, startReady, unreadyInstances } from '../shared/app-instance.js';
import { createFaultInjector, type Fault, type FaultKind } from '../shared/fault.js';
import { drain, type FaultCounts, play, type Scheduled } from '../shared/fault-run.js';
import { makeSchedule } from '../shared/schedule.js';
import { type DeliveryFindings, judgeDeliveries } from './judge/judge-deliveries.js';
import type { Observations } from './judge/observations.js';
import { readLogs } from './log-reader.js';
import { followOutcomes, type Outcomes } from './outcomes.js';
import type { ReceiverCount } from './recording-receiver.js';
import type { Receipt } from './judge/observations.js';
import { type DeliveryStage, PARTITIONS, RECEIPTS_FILE } from './stage.js';
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
  readonly faults: FaultCounts;
  readonly injected: number;
  readonly events: number;
  /** From the last event until every delivery had an outcome; null: it never came to that. */
  readonly drainedAfterMs: number | null;
}

const STARTED_INSTANCES = 2;
const REPORT_EVERY_MS = 10_000;
/** A series takes 32 s; the rest is for a broker and senders that were left behind. */
const DRAIN_WITHIN_MS = 120_000;

/** Faults by schedule while events flow; then everything gets its outcome, and is judged. */
export async function deliveryFaultRun(options: DeliveryFaultRunOptions): Promise<DeliveryFaultRunResult> {
  const { stage, seed, durationMs, note, verbose } = options;
  const { kafka, registryUrl, instances, cluster } = stage;
  await startReady(instances.slice(0, STARTED_INSTANCES));
  const outcomes = followOutcomes({ kafka, registryUrl, partitions: PARTITIONS });
  const traffic = await startTraffic({ ...options, kafka, registryUrl, subscribers: stage.subscribers });
  const injector = createFaultInjector({ cluster, processors: instances });
  const { injected } = injector;
  const reporting = setInterval(() => {
    // What it could not find out this time it says the next time.
    report({ stage, traffic, outcomes, injected, note }).catch(() => undefined);
  }, REPORT_EVERY_MS);
  try {
    const running = Math.min(STARTED_INSTANCES, instances.length);
    await play({
      schedule: makeDeliverySchedule({ seed, durationMs, instances: instances.length, running }),
      ...{ durationMs, injector, note, verbose },
      position: async () => (await outcomes.read()).attempts,
    });
    const { events, deliveries } = await traffic.stop();
    note('  the last fault is mended; every delivery has to get its outcome now');
    const drained = await drain(() => whatIsLeft(stage, outcomes, deliveries), DRAIN_WITHIN_MS);
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
      problems: [...drained.problems, ...unexpectedExits, ...injector.problems, ...logs.problems, ...findings.problems],
    };
  } finally {
    clearInterval(reporting);
    await outcomes.close();
  }
}

/** Every delivery has an outcome and every instance that is meant to run is ready. */
async function whatIsLeft({ instances }: DeliveryStage, outcomes: Outcomes, wanted: number): Promise<string[]> {
  const { finished } = await outcomes.read();
  const open = finished >= wanted ? [] : [`${String(wanted - finished)} deliveries have no outcome`];
  return [...open, ...(await unreadyInstances(instances))];
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

export interface DeliveryScheduleOptions {
  readonly seed: number;
  readonly durationMs: number;
  readonly instances: number;
  /** How many of them are up at the start. */
  readonly running: number;
}

const EVERY_MS = 3_000;
const ALONE: readonly FaultKind[] = [
  ...(['processor-kill', 'processor-kill', 'processor-kill'] as const),
  ...(['processor-pause', 'processor-pause', 'processor-replace', 'processor-restart'] as const),
];
const WITH_OTHERS: readonly FaultKind[] = [
  ...ALONE,
  ...(['processor-leave', 'processor-join', 'processor-leave', 'processor-join'] as const),
];

/** What happens to the instances of webhook-delivery; neither broker nor network are touched. */
export function makeDeliverySchedule(options: DeliveryScheduleOptions): Scheduled<Fault>[] {
  const { instances } = options;
  const schedule = makeSchedule({
    ...options,
    namedInstances: instances,
    brokers: 1,
    partitions: PARTITIONS,
    sessionTimeoutMs: SESSION_TIMEOUT_MS,
    everyMs: EVERY_MS,
    kinds: instances === 1 ? ALONE : WITH_OTHERS,
  });
  return schedule.map(({ atMs, fault }) => ({
    atMs,
    // Delaying the others on the network would take links to the broker, which there are none of here.
    fault: fault.kind === 'processor-join' ? { ...fault, others: [], othersDelayMs: 0, forMs: 0 } : fault,
  }));
}

/** One file for each list, a line for each item, for whoever looks into a run that was broken. */
export async function saveObservations(observations: Observations, fileOf: (name: string) => string): Promise<void> {
  // The receipts are in a file already.
  const { expected, deliveries, attempts, interruptions } = observations;
  for (const [name, items] of Object.entries({ expected, deliveries, attempts, interruptions })) {
    const file = createWriteStream(fileOf(`${name}.jsonl`));
    for (const item of items) if (!file.write(`${JSON.stringify(item)}\n`)) await once(file, 'drain');
    file.end();
    await once(file, 'finish');
  }
}
