import { type Percentiles, percentilesOf } from '../../shared/statistics.js';
import { latenciesMs } from '../analysis/deliveries.js';
import type { BenchContext } from '../bench-context.js';
import { committedWithin, finishRated, singleDeliveries, startRated } from './rated-load.js';
import { cpuPer1000, measureWindow, pause, untilAnswered200 } from './window.js';

/** From the commit of an event to the receipt of its webhook, at half of the maximum. */
export interface LatencyRun {
  readonly perSecond: number;
  readonly latencyMs: Percentiles;
  readonly cpuPer1000: number;
  readonly foreignCores: number;
}

const DRAIN_SECONDS = 30;
const SPARE_SECONDS = 0.5;

export async function measureLatency(context: BenchContext, perSecond: number): Promise<LatencyRun> {
  const { harness, system, flags, reporter } = context;
  return reporter.during(`Latency at ${perSecond.toFixed(0)} deliveries/s`, async () => {
    await system.start();
    await harness.forget();
    await startRated(context, { perSecond, seconds: flags.warmUpSeconds + flags.seconds + SPARE_SECONDS });
    await pause(context, flags.warmUpSeconds);
    const window = await measureWindow(context, flags.seconds);
    const sent = await finishRated(context);
    await untilAnswered200(context, sent.events, DRAIN_SECONDS);
    const measured = committedWithin(await singleDeliveries(context, sent), window.fromMs, window.untilMs);
    const run = {
      ...{ perSecond, latencyMs: percentilesOf(latenciesMs(measured)) },
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
