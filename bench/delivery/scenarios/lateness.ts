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
import { HEALTHY } from '../sink/behaviors.js';
import { alike, finishRated, singleDeliveries, startRated } from './rated-load.js';
import { untilReceived } from './window.js';

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
/** Four waits at their longest, and something. */
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
    startedMs: percentilesOf(retries.map(({ startedMs, dueMs }) => startedMs - dueMs)),
    receivedMs: percentilesOf(
      retries.flatMap(({ event, endpoint, attempt, dueMs }) => {
        const atMs = received.get(attemptKey(event, endpoint, attempt));
        return atMs === undefined ? [] : [atMs - dueMs];
      }),
    ),
  };
}
