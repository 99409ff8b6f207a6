import { type Percentiles, percentilesOf } from '../../../bench/shared/statistics.js';
import { endOutage, readReceipts, saveObservations } from '../delivery/fault-run.js';
import { OUTAGE_TIMES } from '../delivery/judge/check-outages.js';
import { type DeliveryFindings, judgeDeliveries } from '../delivery/judge/judge-deliveries.js';
import type { LoggedAttempt, LoggedDelivery, TokenRequest } from '../delivery/judge/observations.js';
import { countExpected, type Logs, readLogs, receiptsInSeries } from '../delivery/log-reader.js';
import { followOutcomes } from '../delivery/outcomes.js';
import { cancelsOf } from '../delivery/replays.js';
import { RECEIPTS_FILE } from '../delivery/stage.js';
import { fleetId } from '../delivery/subscribers.js';
import { type Sent, startTraffic as startEvents } from '../delivery/traffic.js';
import { judge as judgeProcessor } from '../processor/judge.js';
import { committedPosition, whatIsLeft as pingsLeft } from '../processor/progress.js';
import { startTraffic as startPings } from '../processor/traffic.js';
import { judgeHistory } from '../projection/judge.js';
import { followProgress } from '../projection/progress.js';
import { startReady, unreadyInstances } from '../shared/app-instance.js';
import { type AnyFault, type FaultCounts, type Injector, runFaults, type Scheduled } from '../shared/fault-run.js';
import type { SuiteContext } from '../shared/fault-suite.js';
import { type Drift, driftProblems, driftsOf, type RetryStart } from './drift.js';
import { type Sample, takeSamples } from './samples.js';
import { DRIVING_FLEET, type SoakStage } from './stage.js';

export interface SoakOptions<F extends AnyFault> {
  readonly durationMs: number;
  readonly pingsPerSecond: number;
  readonly eventsPerSecond: number;
  readonly schedule: readonly Scheduled<F>[];
  /** @param hold stops the events until the returned function is called */
  readonly injector: (hold: () => Promise<() => void>) => Injector<F>;
}

export interface SoakResult extends Omit<DeliveryFindings, 'problems'> {
  readonly seed: number;
  readonly minutes: number;
  readonly faults: FaultCounts;
  readonly pings: number;
  readonly events: number;
  readonly replayed: number;
  readonly historyRows: number;
  readonly drainedAfterMs: number | null;
  /** From the record of a delivery in the log until its first request, of those that nothing keeps back on purpose. */
  readonly firstAttemptMs: Percentiles;
  readonly drifts: readonly Drift[];
  readonly samples: readonly Sample[];
  readonly problems: readonly string[];
}

const VEHICLES = 240;
const DRAIN_WITHIN_MS = 600_000;
const SAMPLES = 180;

/** All applications under load and faults; then everything is restored, drained, judged and looked at for drift. */
export async function soakRun<F extends AnyFault>(
  suite: SuiteContext,
  stage: SoakStage,
  options: SoakOptions<F>,
): Promise<SoakResult> {
  const { durationMs, pingsPerSecond, eventsPerSecond } = options;
  const { seed, note } = suite;
  const { kafka, registryUrl, delivery, all } = stage;
  const instances = all.map(({ instance }) => instance);
  await startReady(instances);
  const startedMs = Date.now();
  const outcomes = followOutcomes(stage);
  const progress = followProgress(stage);
  const fleet = { kafka, registryUrl, fleetId: DRIVING_FLEET, seed, vehicles: VEHICLES };
  const pings = await startPings({ ...fleet, pingsPerSecond });
  const events = await startEvents({
    kafka,
    registryUrl,
    subscribers: delivery.subscribers,
    now: Date.now,
    deliveriesPerSecond: eventsPerSecond,
    fix: () => delivery.receiver.ask({ type: 'fix' }),
  });
  const injector = options.injector(() => events.hold());
  const sampling = new AbortController();
  const sampled = takeSamples({ kafka, instances: all, everyMs: durationMs / SAMPLES }, sampling.signal);
  try {
    const { sent, drained } = await runFaults({
      suite,
      durationMs,
      injector,
      schedule: options.schedule,
      drainWithinMs: DRAIN_WITHIN_MS,
      position: () => committedPosition(kafka),
      report: async () => {
        const { attempts, finished } = await outcomes.read();
        return (
          `  ${String(injector.injected())} faults, ${String(pings.published())} pings, ${String(events.sent())} events, ` +
          `${String(attempts)} attempts logged, ${String(finished)} deliveries finished`
        );
      },
      stopTraffic: async () => {
        sampling.abort();
        await pings.stop();
        await endOutage(delivery, outcomes, OUTAGE_TIMES);
        return events.stop();
      },
      whatIsLeft: everythingLeft(stage, { outcomes, progress }),
    });
    // The way to the brokers leads through this process, and a judge at work for minutes would cut them off.
    await Promise.all(instances.map((one) => one.kill()));
    note('  judging what the receiver, the logs and the tables have');
    const judged = await judgeAll(stage, sent, pings.published());
    const samples = await sampled;
    const retries = judged.logs.attempts.flatMap((attempt) => retryStart(attempt, startedMs));
    const drifts = driftsOf(samples, retries, durationMs);
    return {
      ...judged.findings,
      seed,
      minutes: durationMs / 60_000,
      faults: injector.counts,
      samples,
      drifts,
      pings: judged.pings,
      events: judged.events,
      historyRows: judged.historyRows,
      replayed: judged.logs.expected.filter(({ series }) => series > 0).length,
      drainedAfterMs: drained.afterMs,
      firstAttemptMs: firstAttempts(judged.logs),
      problems: [
        ...[...drained.problems, ...(await stage.unexpectedExits()), ...injector.problems],
        ...[...judged.problems, ...driftProblems(drifts)],
      ],
    };
  } finally {
    sampling.abort();
    await outcomes.close();
    await progress.close();
  }
}

interface Followed {
  readonly outcomes: ReturnType<typeof followOutcomes>;
  readonly progress: ReturnType<typeof followProgress>;
}

/** From pings to rows: what one application has not finished is not asked of the next. */
function everythingLeft(stage: SoakStage, { outcomes, progress }: Followed) {
  let expected: number | null = null;
  return async (sent: Sent): Promise<readonly string[]> => {
    const unready = await unreadyInstances(stage.all.map(({ instance }) => instance));
    const behind = [...unready, ...(await pingsLeft(stage.kafka, stage.processors))];
    if (behind.length > 0) return behind;
    expected ??= await countExpected(stage, stage.delivery.subscribers);
    const open = expected - (await outcomes.read()).finished;
    const replays = await outcomes.openReplays(sent.replays);
    if (open > 0 || replays.length > 0) return [`${String(open)} deliveries have no outcome`, ...replays];
    return progress.whatIsLeft();
  };
}

function logsOf(stage: SoakStage, { replays, versions }: Pick<Sent, 'replays' | 'versions'>): Promise<Logs> {
  return readLogs(stage, stage.delivery.subscribers, { secondReader: false, replays, versions });
}

interface Judged {
  readonly logs: Logs;
  readonly findings: Omit<DeliveryFindings, 'problems'>;
  readonly pings: number;
  readonly events: number;
  readonly historyRows: number;
  readonly problems: readonly string[];
}

/** Each step by the judge of its own suite: pings to events, events to requests, attempts to rows. */
async function judgeAll(stage: SoakStage, sent: Sent, published: number): Promise<Judged> {
  const { kafka, registryUrl, delivery, database } = stage;
  const others = fleetId(0).replace(/\d+$/, '');
  const processor = await judgeProcessor({
    kafka,
    registryUrl,
    published,
    secondReader: false,
    isForeign: (deviceId) => deviceId.startsWith(others),
  });
  await delivery.receiver.ask({ type: 'save' });
  const logs = await logsOf(stage, sent);
  const receipts = receiptsInSeries(await readReceipts(delivery.file(RECEIPTS_FILE)), logs);
  const { interruptions } = delivery;
  const tokenRequests = await delivery.receiver.ask<TokenRequest[]>({ type: 'tokens' });
  const observations = {
    ...logs,
    receipts,
    tokenRequests,
    interruptions,
    versions: sent.versions,
    cancels: cancelsOf(sent.replays),
    outageTimes: OUTAGE_TIMES,
  };
  const { problems, ...findings } = judgeDeliveries(observations);
  if (problems.length > 0) await saveObservations(observations, (name) => delivery.file(name));
  const history = await judgeHistory({ log: stage, database, nowMs: Date.now(), secondReader: false });
  return {
    logs,
    findings,
    pings: processor.pings,
    historyRows: history.rows,
    events: sent.events + processor.events,
    problems: [...processor.problems, ...logs.problems, ...problems, ...history.problems],
  };
}

function retryStart({ attempt, probe, dueAt, startedAt }: LoggedAttempt, startedMs: number): RetryStart[] {
  return attempt > 1 && !probe ? [{ dueMs: dueAt - startedMs, lateMs: startedAt - dueAt }] : [];
}

function firstAttempts({ expected, deliveries, attempts }: Logs): Percentiles {
  const plain = new Set(
    expected
      .filter(({ strictOrder, ratePerSecond, series }) => !strictOrder && ratePerSecond === null && series === 0)
      .map(({ eventId }) => eventId),
  );
  const logged = new Map<string, LoggedDelivery>(deliveries.map((one) => [one.eventId, one]));
  return percentilesOf(
    attempts.flatMap(({ attempt, eventId, startedAt }) => {
      const delivery = attempt === 1 && plain.has(eventId) ? logged.get(eventId) : undefined;
      return delivery === undefined ? [] : [Math.max(0, startedAt - delivery.loggedMs)];
    }),
  );
}
