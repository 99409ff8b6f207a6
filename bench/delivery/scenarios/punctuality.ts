import { type Percentiles, percentilesOf } from '../../shared/statistics.js';
import { type LoggedAttempt, openAttemptsLog } from '../analysis/attempts-log.js';
import type { BenchContext } from '../bench-context.js';
import type { Target } from '../load/messages.js';
import { type Behavior, HEALTHY } from '../sink/behaviors.js';
import { ENDPOINTS, FLOOD_SUBSCRIPTIONS } from '../stack/subscribers.js';
import { HELD_ENDPOINTS, untilFannedOut, writeEvents } from './held-backlog.js';
import { endpointsOf, untilRecovered } from './neighbors.js';
import { alike, finishRated } from './rated-load.js';
import { pause } from './window.js';

/** How late retries start while many deliveries wait (R-22). */
export interface PunctualityRun {
  readonly kind: string;
  /** Deliveries that wait when the measurement begins, in all. */
  readonly waiting: number;
  /** Further subscriptions of one fleet that have a part of them. */
  readonly others: number;
  readonly startedMs: Percentiles;
}

export const RETRY_KINDS: Readonly<Record<string, { readonly title: string; readonly behavior: Behavior }>> = {
  dead: { title: 'never answers', behavior: { type: 'silent' } },
  slow: { title: '503 after 4.9 s', behavior: { type: 'answer', status: 503, delayMs: 4_900 } },
  failing: { title: '503 at once', behavior: { type: 'answer', status: 503, delayMs: 0 } },
  healthy: {
    title: 'healthy: 503 to one first attempt in ten',
    behavior: { type: 'answer', status: 503, delayMs: 0, every: 10 },
  },
};

const KIND_NAMES = Object.keys(RETRY_KINDS);
/** One endpoint of each kind, after those of the flooding fleet. */
const FIRST = FLOOD_SUBSCRIPTIONS;
/** Events/s to an endpoint while it is measured; more to the healthy one, as few of its deliveries are retried. */
const PER_SECOND = { bad: 50, healthy: 200, flood: 10, held: 0.5 };
/** The first retry of a dead endpoint is due after 7 s. */
const LEAST_SECONDS = 12;
/** Of `--seconds`. */
export const PART = 0.8;
const LOG_SECONDS = 2;

export interface PunctualityPlan {
  readonly waiting: number;
  /** none: one endpoint of each kind. flood: 40 more of all kinds. held: the dead fleet, which has its backlog already. */
  readonly others: 'none' | 'flood' | 'held';
  /** How long the endpoints may then take to accept what waits; 0: it is left behind. */
  readonly drainSeconds: number;
}

/** An endpoint of each kind at once: the retries that are due within a window while events go on coming. */
export async function measurePunctuality(context: BenchContext, plan: PunctualityPlan): Promise<PunctualityRun[]> {
  const { harness, reporter, stack, now, flags } = context;
  const { others } = plan;
  const kinds = kindsOfEndpoints(others);
  const count = others === 'none' ? 0 : FLOOD_SUBSCRIPTIONS;
  const title = `Retries while ${String(plan.waiting)} wait, ${count === 0 ? 'alone' : `among ${String(count)} others`}`;
  return reporter.during(title, async () => {
    await harness.forget();
    for (const [kind, endpoints] of endpointsByKind(kinds)) await harness.behave(endpoints, behaviorOf(kind));
    const log = await openAttemptsLog(stack);
    try {
      const { singles, targets, perSecond } = loadOf(context, others);
      if (others === 'flood')
        await writeEvents(context, [context.subscribers.flood], Math.ceil(plan.waiting / 2 / count));
      const part = { none: 1, flood: 0.5, held: 0 }[others];
      await writeEvents(context, singles, Math.max(singles.length, plan.waiting * part));
      const fromMs = now();
      await harness.start({ targets, amount: { type: 'rate', perSecond, events: Number.MAX_SAFE_INTEGER } });
      if (others !== 'held') await untilFannedOut(context);
      await pause(context, Math.max(flags.seconds * PART, LEAST_SECONDS));
      const untilMs = now();
      await finishRated(context, { stop: true });
      await pause(context, LOG_SECONDS);
      const isMeasured = ({ attempt, dueMs }: LoggedAttempt): boolean =>
        attempt > 1 && dueMs >= fromMs && dueMs < untilMs;
      const retries = (await log.read()).filter(isMeasured);
      return KIND_NAMES.map((kind) => {
        const ofKind = retries.filter(({ endpoint }) => kinds.get(endpoint) === kind);
        const startedMs = percentilesOf(ofKind.map(({ startedMs: at, dueMs }) => at - dueMs));
        const { count: starts, p50, p99, most } = startedMs;
        reporter.note(
          `  ${RETRY_KINDS[kind]?.title ?? kind}: ${String(starts)} retries started p50 ${p50.toFixed(0)} p99 ${p99.toFixed(0)} ms, at most ${most.toFixed(0)} ms after they were due`,
        );
        return { kind, waiting: plan.waiting, others: count, startedMs };
      });
    } finally {
      await log.close();
      if (plan.drainSeconds > 0) await drain(context, [...kinds.keys()], plan.drainSeconds);
    }
  });
}

/** Which endpoint is of which kind: the n-th of the flooding fleet of the n-th, the held fleet is dead. */
function kindsOfEndpoints(others: PunctualityPlan['others']): Map<number, string> {
  const kinds = new Map(KIND_NAMES.map((kind, index) => [ENDPOINTS + FIRST + index, kind]));
  if (others === 'held') for (const endpoint of HELD_ENDPOINTS) kinds.set(endpoint, 'dead');
  if (others === 'flood')
    for (const [index, endpoint] of endpointsOf(FLOOD_SUBSCRIPTIONS).entries())
      kinds.set(endpoint, KIND_NAMES[index % KIND_NAMES.length] ?? '');
  return kinds;
}

function endpointsByKind(kinds: ReadonlyMap<number, string>): [kind: string, endpoints: number[]][] {
  const live = [...kinds].filter(([endpoint]) => !HELD_ENDPOINTS.includes(endpoint));
  return KIND_NAMES.map((kind) => [kind, live.filter(([, one]) => one === kind).map(([endpoint]) => endpoint)]);
}

function behaviorOf(kind: string): Behavior {
  return RETRY_KINDS[kind]?.behavior ?? HEALTHY;
}

function loadOf({ subscribers }: BenchContext, others: PunctualityPlan['others']) {
  const singles = subscribers.neighbors.slice(FIRST, FIRST + KIND_NAMES.length);
  const rate = (index: number): number => (KIND_NAMES[index] === 'healthy' ? PER_SECOND.healthy : PER_SECOND.bad);
  const targets: Target[] = [
    ...singles.flatMap((fleet, index) => alike([fleet], rate(index))),
    ...(others === 'none' ? [] : alike([subscribers[others]], PER_SECOND[others])),
  ];
  return { singles, targets, perSecond: targets.reduce((total, { weight }) => total + weight, 0) };
}

/** Nothing is left for the next measurement. */
async function drain(context: BenchContext, endpoints: readonly number[], seconds: number): Promise<void> {
  const { harness, reporter, now } = context;
  await harness.forget();
  const startedMs = now();
  await harness.behave(endpoints, HEALTHY);
  await untilRecovered(context, seconds);
  const took = (now() - startedMs) / 1_000;
  const { answered200 } = await harness.count();
  reporter.note(
    `  Healthy again, they accepted ${String(answered200)} deliveries in ${took.toFixed(0)} s: ${(answered200 / took).toFixed(0)}/s`,
  );
}
