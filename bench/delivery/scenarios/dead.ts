import { type Percentiles, percentilesOf } from '../../shared/statistics.js';
import { attemptFaults, type AttemptFaults, ATTEMPTS } from '../analysis/attempts-log.js';
import { type Delivery, latenciesMs } from '../analysis/deliveries.js';
import type { BenchContext } from '../bench-context.js';
import { type Behaviour, HEALTHY } from '../sink/origin.js';
import { untilReceived } from './backlog.js';
import { committedWithin, eventsOfTargets, finishRated, singleDeliveries, startRated } from './healthy.js';
import { cpuPer1000, measureWindow, pause, secondsOf, untilAnswered200 } from './window.js';

/** One endpoint of 100 is dead: what that does to the 99 others. */
export interface DeadRun {
  readonly kind: 'silent' | 'refuse';
  /** The dead endpoint's part of all events. */
  readonly share: number;
  readonly perSecond: number;
  /** Of the others, while the endpoint is healthy and while it is dead, in windows that take turns. */
  readonly healthyMs: Percentiles;
  readonly deadMs: Percentiles;
  readonly p99Ratio: number;
  /** Largest to smallest p99 of the healthy windows: a ratio within it says nothing. 1 with one window. */
  readonly healthySpread: number;
  /** Answered deliveries to the others within the window, dead to healthy. */
  readonly rateRatio: number;
}

const DEAD = 0;
/** A delivery is tried for some 35 s; one that failed meanwhile is no longer waited for. */
const RECOVERY_SECONDS = 45;
/** After a switch: connections are made anew. */
const SETTLE_SECONDS = 1;
const TAIL_SECONDS = 5;

export async function measureDead(
  context: BenchContext,
  { kind, share, perSecond }: Pick<DeadRun, 'kind' | 'share' | 'perSecond'>,
): Promise<DeadRun> {
  const { system, flags, reporter } = context;
  const title = `One endpoint of 100 ${kind === 'silent' ? 'never answers' : 'refuses connections'}, ${String(share * 100)} % of the events`;
  return reporter.during(title, async () => {
    await system.start();
    const healthy: Delivery[] = [];
    const healthyP99: number[] = [];
    const dead: Delivery[] = [];
    const rounds = flags.quick ? 1 : 2;
    for (let round = 0; round < rounds; round += 1) {
      const found = await window(context, { share, perSecond, behaviour: HEALTHY });
      healthy.push(...found);
      healthyP99.push(percentilesOf(latenciesMs(found)).p99);
      dead.push(...(await window(context, { share, perSecond, behaviour: { type: kind } })));
    }
    const [healthyMs, deadMs] = [healthy, dead].map((some) => percentilesOf(latenciesMs(some)));
    if (healthyMs === undefined || deadMs === undefined) throw new Error('There are no windows.');
    const p99Ratio = deadMs.p99 / healthyMs.p99;
    const run = {
      ...{ kind, share, perSecond, healthyMs, deadMs, p99Ratio },
      healthySpread: Math.max(...healthyP99) / Math.min(...healthyP99),
      rateRatio: deadMs.count / dead.length / (healthyMs.count / healthy.length),
    };
    reporter.note(`  ${title}: ${deadText(run)}`);
    return run;
  });
}

/** Once before the first of them, so that a system that has only just started is not taken for a healthy one. */
export async function warmUpForDead(context: BenchContext, perSecond: number): Promise<void> {
  await context.system.start();
  await window(context, { share: 0.01, perSecond, behaviour: HEALTHY });
}

interface WindowPlan {
  readonly share: number;
  readonly perSecond: number;
  readonly behaviour: Behaviour;
}

/** One load with that behaviour. @returns the deliveries to the others, without those of the first second */
async function window(context: BenchContext, { share, perSecond, behaviour }: WindowPlan): Promise<Delivery[]> {
  const { harness, flags, subscribers } = context;
  const others = subscribers.single.length - 1;
  const deadWeight = (share / (1 - share)) * others;
  await harness.forget();
  await harness.behave([DEAD], behaviour);
  const seconds = flags.seconds / 2 + SETTLE_SECONDS;
  await startRated(context, { perSecond, seconds, weightOf: (endpoint) => (endpoint === DEAD ? deadWeight : 1) });
  const sent = await finishRated(context);
  const isMeasured = behaviour.type === 'answer' ? sent.events : Math.floor(sent.events * (1 - share));
  await untilAnswered200(context, isMeasured, TAIL_SECONDS);
  const found = await singleDeliveries(context, sent);
  const begunMs = found[0]?.committedMs ?? NaN;
  await recover(context, behaviour, sent.events);
  return found.filter(
    ({ endpoint, committedMs }) => endpoint !== DEAD && committedMs >= begunMs + SETTLE_SECONDS * 1_000,
  );
}

/** The next window begins with nothing left of this one. */
async function recover(context: BenchContext, behaviour: Behaviour, events: number): Promise<void> {
  if (behaviour.type === 'answer') return;
  await context.harness.behave([DEAD], HEALTHY);
  const isDone = await untilAnswered200(context, events, RECOVERY_SECONDS);
  if (!isDone) context.reporter.note('  Some deliveries to the dead endpoint have failed for good meanwhile.');
  await pause(context, SETTLE_SECONDS);
}

function deadText({ healthyMs, deadMs, p99Ratio, healthySpread, rateRatio }: DeadRun): string {
  const text = (ms: Percentiles): string => `p50 ${ms.p50.toFixed(0)} p99 ${ms.p99.toFixed(0)} ms`;
  return `others ${text(healthyMs)} when healthy, ${text(deadMs)} when dead: p99 x ${p99Ratio.toFixed(2)} (healthy windows differ by x ${healthySpread.toFixed(2)}), arrived x ${rateRatio.toFixed(3)}`;
}

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
    const healthy = committedWithin(deliveries, window.fromMs, window.untilMs).filter((one) => !isFailing(one));
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
