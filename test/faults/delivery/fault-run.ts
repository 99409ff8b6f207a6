import { once } from 'node:events';
import { createReadStream, createWriteStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { consumerGroups } from '@waypost/contracts';
import type { KafkaSettings } from '@waypost/streams';
import { until } from '../../support/until.js';
import { inputLag } from '../processor/progress.js';
import { SESSION_TIMEOUT_MS, startReady, unreadyInstances } from '../shared/app-instance.js';
import { createFaultInjector, type Fault, type FaultKind } from '../shared/fault.js';
import { type FaultCounts, runFaults, type Scheduled } from '../shared/fault-run.js';
import type { SuiteContext } from '../shared/fault-suite.js';
import { makeSchedule } from '../shared/schedule.js';
import { PARTITIONS } from '../shared/stage.js';
import { OUTAGE_TIMES } from './judge/check-outages.js';
import { type DeliveryFindings, judgeDeliveries } from './judge/judge-deliveries.js';
import type { Observations, OutageTimes, Receipt, TokenRequest } from './judge/observations.js';
import { readLogs, receiptsInSeries } from './log-reader.js';
import { followOutcomes, type Outcomes } from './outcomes.js';
import type { ReceiverCount, ReceiverRequest } from './recording-receiver.js';
import { cancelsOf } from './replays.js';
import { type DeliveryStage, RECEIPTS_FILE } from './stage.js';
import { startTraffic } from './traffic.js';

export interface DeliveryFaultRunOptions {
  readonly durationMs: number;
  readonly deliveriesPerSecond: number;
  readonly now: () => number;
  /** Default: by the seed. */
  readonly schedule?: readonly Scheduled<Fault>[];
  /** Default: true. */
  readonly secondReader?: boolean;
  /** Default: long enough for every series and for what was left behind. */
  readonly drainWithinMs?: number;
  /** Default: those of the rules. */
  readonly outageTimes?: OutageTimes;
}

export interface DeliveryFaultRunResult extends DeliveryFindings {
  readonly seed: number;
  readonly instances: number;
  readonly faults: FaultCounts;
  readonly injected: number;
  readonly events: number;
  readonly replays: number;
  /** Deliveries that replays have sent again. */
  readonly replayed: number;
  /** From the last event until every delivery had an outcome; null: it never came to that. */
  readonly drainedAfterMs: number | null;
}

const STARTED_INSTANCES = 2;
/** On a machine that is busy elsewhere, faults leave little to replay in the first seconds. */
const LEAST_BEFORE_REPLAYS_S = 2;
/** Seven endpoints that always fail share one host, so 512 of their deliveries are under way per process, for 29 s each. */
const DRAIN_WITHIN_MS = 480_000;

/** Faults by schedule while events flow; then everything gets its outcome, and is judged. */
export async function deliveryFaultRun(
  suite: SuiteContext,
  stage: DeliveryStage,
  options: DeliveryFaultRunOptions,
): Promise<DeliveryFaultRunResult> {
  const { durationMs, deliveriesPerSecond, now, secondReader = true, drainWithinMs = DRAIN_WITHIN_MS } = options;
  const { outageTimes = OUTAGE_TIMES } = options;
  const { seed, note } = suite;
  const { kafka, registryUrl, instances, subscribers, receiver, interruptions } = stage;
  await startReady(instances.slice(0, STARTED_INSTANCES));
  const changed = subscribers.flatMap(({ change, subscription }) => (change === null ? [] : [subscription.id]));
  const outcomes = followOutcomes(stage, changed);
  const fix = async (): Promise<unknown> => {
    const enough = LEAST_BEFORE_REPLAYS_S * deliveriesPerSecond;
    await until(async () => (await outcomes.read()).finished >= enough, { timeoutMs: drainWithinMs });
    return receiver.ask({ type: 'fix' });
  };
  const traffic = await startTraffic({ kafka, registryUrl, deliveriesPerSecond, subscribers, now, fix });
  const injector = createFaultInjector({ ...stage, processors: instances, hold: () => traffic.hold() });
  const running = Math.min(STARTED_INSTANCES, instances.length);
  try {
    const { sent, drained } = await runFaults({
      suite,
      durationMs,
      injector,
      drainWithinMs,
      schedule: options.schedule ?? makeDeliverySchedule({ seed, durationMs, instances: instances.length, running }),
      // While the broker is away, nothing is known.
      position: () =>
        outcomes.read().then(
          ({ attempts }) => attempts,
          () => null,
        ),
      required: REQUIRED,
      report: async () => {
        const up = instances.filter((one) => one.up).map(({ instance }) => instance);
        const { attempts, finished } = await outcomes.read();
        const { posts } = await receiver.ask<ReceiverCount>({ type: 'count' });
        return (
          `  ${String(injector.injected())} faults, ${String(traffic.sent())} events, ${String(posts)} POSTs received, ` +
          `${String(attempts)} attempts logged, ${String(finished)} deliveries finished, instances up: ${up.join(' ')}`
        );
      },
      stopTraffic: async () => {
        await endOutage(stage, outcomes, outageTimes);
        return traffic.stop();
      },
      whatIsLeft: async ({ deliveries, replays }) => {
        const open = deliveries - (await outcomes.read()).finished;
        return [
          ...(open > 0 ? [`${String(open)} deliveries have no outcome`] : await leftOfChanged(kafka, outcomes)),
          ...(await outcomes.openReplays(replays)),
          ...(await unreadyInstances(instances)),
        ];
      },
    });
    note('  judging what the receiver and the log have');
    await receiver.ask({ type: 'save' });
    const logs = await readLogs(stage, subscribers, { secondReader, ...sent });
    const receipts = receiptsInSeries(await readReceipts(stage.file(RECEIPTS_FILE)), logs);
    const tokenRequests = await receiver.ask<TokenRequest[]>({ type: 'tokens' });
    const observations = {
      ...logs,
      receipts,
      tokenRequests,
      interruptions,
      versions: sent.versions,
      cancels: cancelsOf(sent.replays),
      outageTimes,
    };
    const findings = judgeDeliveries(observations);
    if (findings.problems.length > 0) await saveObservations(observations, (name) => stage.file(name));
    const { counts, injected } = injector;
    return {
      ...findings,
      seed,
      instances: instances.length,
      faults: counts,
      injected: injected(),
      events: sent.events,
      replays: sent.replays.length,
      replayed: logs.expected.filter(({ series }) => series > 0).length,
      drainedAfterMs: drained.afterMs,
      problems: [
        ...[...drained.problems, ...stage.unexpectedExits, ...injector.problems],
        ...[...logs.problems, ...findings.problems],
      ],
    };
  } finally {
    await outcomes.close();
  }
}

const PROBES = 2;
/** A failure that a kill has made unknown begins again within the first minute. */
const SUSPENDED_LATE_MS = 90_000;

/** Lets the subscription with the outage be suspended and probed first. Without a probe, the judge has something to say. */
export async function endOutage(
  { subscribers, receiver }: Pick<DeliveryStage, 'subscribers' | 'receiver'>,
  outcomes: Outcomes,
  times: OutageTimes,
): Promise<void> {
  if (!subscribers.some(({ behavior }) => behavior === 'outage')) return;
  const timeoutMs = times.suspendAfterMs + PROBES * times.probeEveryMs + SUSPENDED_LATE_MS;
  const isProbed = async (): Promise<boolean> => (await outcomes.probes()) >= PROBES;
  await until(isProbed, { timeoutMs }).catch(() => undefined);
  await receiver.ask({ type: 'repair' } satisfies ReceiverRequest);
}

/** How many deliveries there are of what is changed is only known when all events are fanned out. */
async function leftOfChanged(kafka: KafkaSettings, outcomes: Outcomes): Promise<string[]> {
  const lag = await inputLag(kafka, consumerGroups.fanOut);
  return lag === 0 ? outcomes.openOfChanged() : [`${String(lag ?? 'some')} events are not fanned out`];
}

/** Line by line: those of a run of hours are longer than the longest string that V8 makes. */
export async function readReceipts(file: string): Promise<Receipt[]> {
  const receipts: Receipt[] = [];
  for await (const line of createInterface(createReadStream(file))) receipts.push(JSON.parse(line) as Receipt);
  return receipts;
}

export interface DeliveryScheduleOptions {
  readonly seed: number;
  readonly durationMs: number;
  readonly instances: number;
  /** How many of them are up at the start. */
  readonly running: number;
}

const EVERY_MS = 3_000;
const REQUIRED: readonly FaultKind[] = ['processor-kill', 'processor-pause', 'broker-kill', 'network-cut'];
const ALONE: readonly FaultKind[] = [
  ...([
    'broker-kill',
    'broker-full',
    'broker-restart',
    'network-cut',
    'network-hole',
    'network-delay',
    'registry-hole',
  ] as const),
  ...(['processor-kill', 'processor-kill', 'processor-kill'] as const),
  ...(['processor-pause', 'processor-pause', 'processor-replace', 'processor-restart'] as const),
];
const WITH_OTHERS: readonly FaultKind[] = [
  ...ALONE,
  ...(['processor-leave', 'processor-join', 'processor-leave', 'processor-join'] as const),
];

/** What happens to the instances of webhook-delivery, their broker and their way to it. */
export function makeDeliverySchedule(options: DeliveryScheduleOptions): Scheduled<Fault>[] {
  const { instances } = options;
  return makeSchedule({
    ...options,
    namedInstances: instances,
    brokers: 1,
    partitions: PARTITIONS,
    sessionTimeoutMs: SESSION_TIMEOUT_MS,
    everyMs: EVERY_MS,
    kinds: instances === 1 ? ALONE : WITH_OTHERS,
  });
}

/** One file for each list, a line for each item, to look into a run that was broken. */
export async function saveObservations(observations: Observations, fileOf: (name: string) => string): Promise<void> {
  // The receipts are in a file already.
  const { expected, deliveries, attempts, interruptions, versions } = observations;
  for (const [name, items] of Object.entries({ expected, deliveries, attempts, interruptions, versions })) {
    const file = createWriteStream(fileOf(`${name}.jsonl`));
    for (const item of items) if (!file.write(`${JSON.stringify(item)}\n`)) await once(file, 'drain');
    file.end();
    await once(file, 'finish');
  }
}
