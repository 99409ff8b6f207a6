import { type Percentiles, percentilesOf } from '../../shared/statistics.js';
import { latenciesMs } from '../analysis/deliveries.js';
import type { BenchContext } from '../bench-context.js';
import { measureRated } from './rated-load.js';
import { cpuPer1000 } from './window.js';

/** From the commit of an event to the receipt of its webhook, at half of the maximum. */
export interface LatencyRun {
  readonly perSecond: number;
  readonly latencyMs: Percentiles;
  readonly cpuPer1000: number;
  readonly foreignCores: number;
}

export async function measureLatency(context: BenchContext, perSecond: number): Promise<LatencyRun> {
  const { system, reporter } = context;
  return reporter.during(`Latency at ${perSecond.toFixed(0)} deliveries/s`, async () => {
    await system.start();
    const { window, deliveries } = await measureRated(context, { perSecond });
    const run = {
      perSecond,
      latencyMs: percentilesOf(latenciesMs(deliveries)),
      cpuPer1000: cpuPer1000(window, window.answered200),
      foreignCores: window.foreignCores,
    };
    const { p50, p99, p999, most } = run.latencyMs;
    const text = [p50, p99, p999, most].map((value) => value.toFixed(0)).join(' / ');
    reporter.note(
      `  Latency p50 / p99 / p99.9 / largest: ${text} ms; CPU s per 1,000: ${run.cpuPer1000.toFixed(3)}; foreign load ${run.foreignCores.toFixed(2)} cores`,
    );
    return run;
  });
}
