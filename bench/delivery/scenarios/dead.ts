import { type Percentiles, percentilesOf } from '../../shared/statistics.js';
import { type Delivery, latenciesMs } from '../analysis/deliveries.js';
import type { BenchContext } from '../bench-context.js';
import { HEALTHY } from '../sink/origin.js';
import { measureOthers } from './neighbours.js';

/** A dead endpoint beside 100: what that does to these. */
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

/** Silent and refusing, each with little and with much of the load. */
export async function measureAllDead(context: BenchContext, perSecond: number): Promise<DeadRun[]> {
  const { system, flags } = context;
  await system.start();
  // A system that has only just started must not be taken for a healthy one.
  await measureOthers(context, { neighbours: 1, share: 0.01, perSecond, behaviour: HEALTHY });
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
  const title = `One endpoint beside 100 ${kind === 'silent' ? 'never answers' : 'refuses connections'}, ${String(share * 100)} % of the events`;
  return reporter.during(title, async () => {
    const healthy: Delivery[] = [];
    const healthyP99: number[] = [];
    const dead: Delivery[] = [];
    const rounds = flags.quick ? 1 : 2;
    for (let round = 0; round < rounds; round += 1) {
      const found = await measureOthers(context, { neighbours: 1, share, perSecond, behaviour: HEALTHY });
      healthy.push(...found);
      healthyP99.push(percentilesOf(latenciesMs(found)).p99);
      dead.push(...(await measureOthers(context, { neighbours: 1, share, perSecond, behaviour: { type: kind } })));
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

function deadText({ healthyMs, deadMs, p99Ratio, healthySpread, rateRatio }: DeadRun): string {
  const text = (ms: Percentiles): string => `p50 ${ms.p50.toFixed(0)} p99 ${ms.p99.toFixed(0)} ms`;
  return `others ${text(healthyMs)} when healthy, ${text(deadMs)} when dead: p99 x ${p99Ratio.toFixed(2)} (healthy windows differ by x ${healthySpread.toFixed(2)}), arrived x ${rateRatio.toFixed(3)}`;
}
