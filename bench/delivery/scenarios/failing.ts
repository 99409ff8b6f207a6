import { type Percentiles, percentilesOf } from '../../shared/statistics.js';
import { type AttemptFaults, attemptFaults, ATTEMPTS } from '../analysis/attempts-log.js';
import { type Delivery, latenciesMs } from '../analysis/deliveries.js';
import type { BenchContext } from '../bench-context.js';
import { HEALTHY } from '../sink/behaviors.js';
import { committedWithin, eventsOfTargets, finishRated, singleDeliveries, startRated } from './rated-load.js';
import { cpuPer1000, measureWindow, pause, secondsOf, untilReceived } from './window.js';

/** 30 endpoints of 100 answer 503 to everything. */
export interface FailingRun extends AttemptFaults {
  readonly eventsPerSecond: number;
  readonly attemptsPerSecond: number;
  readonly cpuPer1000Attempts: number;
  /** Of the 70 healthy ones. */
  readonly latencyMs: Percentiles;
}

const FAILING = Array.from({ length: 30 }, (_, index) => index);
const SERIES_SECONDS = 60;

export async function measureFailing(context: BenchContext, eventsPerSecond: number): Promise<FailingRun> {
  const { harness, system, flags, reporter } = context;
  return reporter.during('30 endpoints of 100 answer 503', async () => {
    await system.start();
    await harness.forget();
    await harness.behave(FAILING, { type: 'answer', status: 503, delayMs: 0 });
    // A steady state needs as long as a series takes; here the first retries are in it.
    await startRated(context, { perSecond: eventsPerSecond, seconds: flags.warmUpSeconds + flags.seconds });
    await pause(context, flags.warmUpSeconds);
    const window = await measureWindow(context, flags.seconds);
    const sent = await finishRated(context);
    const failingEvents = eventsOfTargets(sent, FAILING.length);
    await untilReceived(context, sent.events + failingEvents * (ATTEMPTS - 1), SERIES_SECONDS);
    const deliveries = await singleDeliveries(context, sent);
    await harness.behave(FAILING, HEALTHY);
    const isFailing = ({ endpoint }: Delivery): boolean => endpoint < FAILING.length;
    const healthy = committedWithin(deliveries, window).filter((one) => !isFailing(one));
    const run = {
      ...attemptFaults(deliveries.filter(isFailing)),
      eventsPerSecond,
      attemptsPerSecond: window.received / secondsOf(window),
      cpuPer1000Attempts: cpuPer1000(window, window.received),
      latencyMs: percentilesOf(latenciesMs(healthy)),
    };
    reporter.note(
      `  30 % answer 503: ${run.attemptsPerSecond.toFixed(0)} attempts/s, CPU s per 1,000 attempts ${run.cpuPer1000Attempts.toFixed(3)}, the healthy p50 ${run.latencyMs.p50.toFixed(0)} p99 ${run.latencyMs.p99.toFixed(0)} ms; not 5 attempts: ${String(run.wrongCounts)} of ${String(run.deliveries)}`,
    );
    return run;
  });
}
