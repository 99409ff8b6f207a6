import { type Percentiles, percentilesOf } from '../../shared/statistics.js';
import {
  type AttemptFaults,
  attemptFaults,
  attemptKey,
  ATTEMPTS,
  type LoggedAttempt,
  openAttemptsLog,
} from '../analysis/attempts-log.js';
import type { Delivery } from '../analysis/deliveries.js';
import type { BenchContext } from '../bench-context.js';
import { type Behaviour, HEALTHY } from '../sink/origin.js';
import { ENDPOINTS, FLOOD_SUBSCRIPTIONS } from '../stack/subscribers.js';
import { untilFannedOut, writeEvents } from './held-backlog.js';
import { endpointsOf } from './neighbours.js';
import { alike, finishRated, singleDeliveries, startRated } from './rated-load.js';
import { pause, untilReceived } from './window.js';

/** How late retries start, with a thousand of them waiting at once. */
export interface LatenessRun extends AttemptFaults {
  readonly pending: number;
  /** Start of the attempt minus its due time, both of the log. */
  readonly startedMs: Percentiles;
  /** Receipt minus due time. */
  readonly receivedMs: Percentiles;
}

const PENDING = 1_000;
const FAILING = Array.from({ length: 10 }, (_, index) => index);
const LOAD_SECONDS = 2;
/** Four waits at their longest (R-22), and something. */
const SERIES_SECONDS = 45;

export async function measureLateness(context: BenchContext): Promise<LatenessRun> {
  const { harness, system, stack, subscribers, reporter } = context;
  return reporter.during(`${String(PENDING)} retries wait at once`, async () => {
    await system.start();
    await harness.forget();
    await harness.behave(FAILING, { type: 'answer', status: 503, delayMs: 0 });
    const log = await openAttemptsLog(stack);
    try {
      const targets = alike(subscribers.single.slice(0, FAILING.length));
      await startRated(context, { perSecond: PENDING / LOAD_SECONDS, seconds: LOAD_SECONDS, targets });
      const sent = await finishRated(context);
      await untilReceived(context, sent.events * ATTEMPTS, SERIES_SECONDS);
      const deliveries = await singleDeliveries(context, sent);
      await harness.behave(FAILING, HEALTHY);
      const run = latenessOf(deliveries, await log.read());
      reporter.note(
        `  Retry lateness: started p50 ${run.startedMs.p50.toFixed(0)} p99 ${run.startedMs.p99.toFixed(0)} ms, received p50 ${run.receivedMs.p50.toFixed(0)} p99 ${run.receivedMs.p99.toFixed(0)} ms (${String(run.startedMs.count)} retries); not 5 attempts: ${String(run.wrongCounts)}`,
      );
      return run;
    } finally {
      await log.close();
    }
  });
}

function latenessOf(deliveries: readonly Delivery[], logged: readonly LoggedAttempt[]): LatenessRun {
  const received = new Map(
    deliveries.flatMap(({ event, endpoint, receipts }) =>
      receipts.map((receipt) => [attemptKey(event, endpoint, receipt.attempt), receipt.receivedMs] as const),
    ),
  );
  const ofRun = new Set(deliveries.map(({ event }) => event));
  const retries = logged.filter(({ event, attempt }) => attempt > 1 && ofRun.has(event));
  return {
    ...attemptFaults(deliveries),
    pending: PENDING,
    startedMs: startDelaysMs(retries),
    receivedMs: percentilesOf(
      retries.flatMap(({ event, endpoint, attempt, dueMs }) => {
        const atMs = received.get(attemptKey(event, endpoint, attempt));
        return atMs === undefined ? [] : [atMs - dueMs];
      }),
    ),
  };
}

function startDelaysMs(retries: readonly LoggedAttempt[]): Percentiles {
  return percentilesOf(retries.map(({ startedMs, dueMs }) => startedMs - dueMs));
}

/** How late retries start while many deliveries wait (R-22). */
export interface PunctualityRun {
  readonly kind: string;
  /** Deliveries that wait for the endpoint, or for it and the others. */
  readonly waiting: number;
  /** Subscriptions of one fleet beside it, to endpoints of the same kind. */
  readonly others: number;
  readonly startedMs: Percentiles;
}

export const RETRY_KINDS: Readonly<Record<string, { readonly title: string; readonly behaviour: Behaviour }>> = {
  dead: { title: 'never answers', behaviour: { type: 'silent' } },
  slow: { title: '503 after 4.9 s', behaviour: { type: 'answer', status: 503, delayMs: 4_900 } },
  failing: { title: '503 at once', behaviour: { type: 'answer', status: 503, delayMs: 0 } },
};

/** Behind the endpoints of the others. */
const ENDPOINT = ENDPOINTS + FLOOD_SUBSCRIPTIONS;
/** Attempts of the kind before have ended, and retries in time have been written. */
const SETTLE_SECONDS = 8;
const LOG_SECONDS = 2;
/** More than begin in a window: without them a small backlog would end. */
const ADDED = 500;
const DRAIN_SECONDS = 300;

/** One endpoint, then with 40 others, with few and with many deliveries waiting. */
export async function measurePunctuality(context: BenchContext): Promise<PunctualityRun[]> {
  await context.system.start();
  const runs: PunctualityRun[] = [];
  for (const waiting of context.flags.waiting) {
    await context.harness.forget();
    for (const others of [0, FLOOD_SUBSCRIPTIONS]) runs.push(...(await measureWaiting(context, waiting, others)));
    await drain(context);
  }
  return runs;
}

async function measureWaiting(context: BenchContext, waiting: number, others: number): Promise<PunctualityRun[]> {
  const { harness, reporter, now, subscribers } = context;
  const endpoints = [ENDPOINT, ...endpointsOf(others)];
  const [one] = subscribers.neighbours.slice(ENDPOINT - ENDPOINTS);
  if (one === undefined) throw new Error('There are too few neighbours.');
  const fill = async (deliveries: number): Promise<void> => {
    if (others === 0) await writeEvents(context, one, deliveries);
    else await writeEvents(context, subscribers.flood, Math.ceil(deliveries / others));
    await untilFannedOut(context);
  };
  const runs: PunctualityRun[] = [];
  for (const [kind, { title, behaviour }] of Object.entries(RETRY_KINDS)) {
    const full = `${String(waiting)} wait, ${others === 0 ? 'alone' : `among ${String(others)} others`}: ${title}`;
    await reporter.during(full, async () => {
      await harness.behave(endpoints, behaviour);
      const fromMs = now();
      await fill(runs.length === 0 ? waiting : Math.min(waiting, ADDED));
      const startedMs = await measureStarts(context, new Set(endpoints));
      runs.push({ kind, waiting, others, startedMs });
      const { count, p50, p99, most } = startedMs;
      reporter.note(
        `  ${full}: ${String(count)} retries started p50 ${p50.toFixed(0)} p99 ${p99.toFixed(0)} ms, at most ${most.toFixed(0)} ms after they were due (${((now() - fromMs) / 1_000).toFixed(0)} s)`,
      );
    });
  }
  return runs;
}

/** The retries that are due within a window. */
async function measureStarts(context: BenchContext, endpoints: ReadonlySet<number>): Promise<Percentiles> {
  const { stack, flags, now } = context;
  await pause(context, SETTLE_SECONDS);
  const log = await openAttemptsLog(stack);
  try {
    const fromMs = now();
    await pause(context, flags.seconds * 1.5);
    const untilMs = now();
    await pause(context, LOG_SECONDS);
    const isMeasured = ({ attempt, dueMs, endpoint }: LoggedAttempt): boolean =>
      attempt > 1 && dueMs >= fromMs && dueMs < untilMs && endpoints.has(endpoint);
    return startDelaysMs((await log.read()).filter(isMeasured));
  } finally {
    await log.close();
  }
}

/** Nothing is left for the next measurement. */
async function drain(context: BenchContext): Promise<void> {
  const { harness, system, reporter, now } = context;
  await reporter.during('The endpoints are healthy again: their backlog is sent', async () => {
    await harness.forget();
    const startedMs = now();
    await harness.behave([ENDPOINT, ...endpointsOf(FLOOD_SUBSCRIPTIONS)], HEALTHY);
    const unfinished = async (): Promise<number> =>
      (await system.metric('waypost_deliveries_pending')) + (await system.metric('waypost_subscriptions_parked'));
    while ((await unfinished()) > 0 && now() - startedMs < DRAIN_SECONDS * 1_000) await pause(context, 1);
    const seconds = (now() - startedMs) / 1_000;
    const { answered200 } = await harness.count();
    reporter.note(
      `  ${String(answered200)} deliveries in ${seconds.toFixed(0)} s: ${(answered200 / seconds).toFixed(0)}/s`,
    );
  });
}
