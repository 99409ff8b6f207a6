import { type Percentiles, percentilesOf } from '../../shared/statistics.js';
import { type Delivery, latenciesMs } from '../analysis/deliveries.js';
import type { BenchContext } from '../bench-context.js';
import { type Behaviour, HEALTHY } from '../sink/origin.js';
import { finishRated, singleDeliveries, startRated } from './rated-load.js';
import { pause, untilAnswered200 } from './window.js';

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
/** After a switch: connections are made again. */
const SETTLE_SECONDS = 1;
const TAIL_SECONDS = 5;

/** Silent and refusing, each with little and with much of the load. */
export async function measureAllDead(context: BenchContext, perSecond: number): Promise<DeadRun[]> {
  const { system, flags } = context;
  await system.start();
  // A system that has only just started must not be taken for a healthy one.
  await window(context, { share: 0.01, perSecond, behaviour: HEALTHY });
  const runs: DeadRun[] = [];
  for (const kind of flags.quick ? (['silent'] as const) : (['silent', 'refuse'] as const))
    for (const share of flags.quick ? [0.2] : [0.01, 0.2])
      runs.push(await measureDead(context, { kind, share, perSecond }));
  return runs;
}

async function measureDead(
  context: BenchContext,
  { kind, share, perSecond }: Pick<DeadRun, 'kind' | 'share' | 'perSecond'>,
): Promise<DeadRun> {
  const { flags, reporter } = context;
  const title = `One endpoint of 100 ${kind === 'silent' ? 'never answers' : 'refuses connections'}, ${String(share * 100)} % of the events`;
  return reporter.during(title, async () => {
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
