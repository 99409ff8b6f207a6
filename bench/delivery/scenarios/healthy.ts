import { type Percentiles, percentilesOf } from '../../shared/statistics.js';
import { deliveriesOf, latenciesMs, times200 } from '../analysis/deliveries.js';
import type { BenchContext } from '../bench-context.js';
import { HEALTHY } from '../sink/behaviors.js';
import { type Part, PARTS } from '../stack/system.js';
import { alike } from './rated-load.js';
import { cpuPer1000, type MeasuredWindow, measureWindow, pause, secondsOf, untilAnswered200 } from './window.js';

/** As many deliveries as the system makes, all endpoints healthy. */
export interface ThroughputRun {
  readonly deliveriesPerSecond: number;
  readonly cpuPer1000: number;
  readonly cpuPer1000ByPart: Readonly<Record<Part, number>>;
  readonly harnessCpuPer1000: { readonly load: number; readonly sink: number };
  readonly peakMiB: Readonly<Record<Part, number>>;
  readonly foreignCores: number;
  readonly latencyMs: Percentiles;
  readonly missing: number;
  readonly repeated: number;
}

const DRAIN_SECONDS = 60;
/** Between commit and receipt at the maximum. */
const EVENTS_UNDER_WAY = 4_000;

export async function measureHealthy(context: BenchContext): Promise<ThroughputRun> {
  return measureThroughput(context, 'Healthy maximum, 100 endpoints', context.subscribers.single);
}

export async function measureFanOut(context: BenchContext): Promise<ThroughputRun> {
  const { fans, single } = context.subscribers;
  const width = single.length / fans.length;
  return measureThroughput(context, 'Fan-out 1 x 10', fans, (target) =>
    Array.from({ length: width }, (_, index) => target * width + index),
  );
}

async function measureThroughput(
  context: BenchContext,
  title: string,
  fleets: readonly { readonly fleetId: string; readonly eventType: string }[],
  endpointsOf: (target: number) => readonly number[] = (target) => [target],
): Promise<ThroughputRun> {
  const { harness, system, flags, reporter } = context;
  const deliveriesPerEvent = endpointsOf(0).length;
  return reporter.during(title, async () => {
    await system.start();
    await harness.forget();
    const targets = alike(fleets);
    const underWay = Math.ceil(EVENTS_UNDER_WAY / deliveriesPerEvent);
    await harness.start({ targets, amount: { type: 'closed', underWay, deliveriesPerEvent } });
    await pause(context, flags.warmUpSeconds);
    const window = await measureWindow(context, flags.seconds);
    const sent = await harness.finish({ stop: true });
    await untilAnswered200(context, sent.events * deliveriesPerEvent, DRAIN_SECONDS);
    const deliveries = deliveriesOf(sent, await harness.receipts(), endpointsOf);
    const run = {
      ...throughputOf(window),
      latencyMs: percentilesOf(latenciesMs(deliveries)),
      missing: deliveries.filter((delivery) => times200(delivery) === 0).length,
      repeated: deliveries.filter((delivery) => times200(delivery) > 1).length,
    };
    reporter.note(throughputText(title, run));
    return run;
  });
}

function throughputOf(window: MeasuredWindow) {
  const { answered200, cpuSeconds, harnessCpuSeconds, peakMiB } = window;
  const per1000 = (seconds: number): number => (seconds / answered200) * 1_000;
  return {
    deliveriesPerSecond: answered200 / secondsOf(window),
    cpuPer1000: cpuPer1000(window, answered200),
    cpuPer1000ByPart: Object.fromEntries(PARTS.map((part) => [part, per1000(cpuSeconds[part])])) as Record<
      Part,
      number
    >,
    harnessCpuPer1000: { load: per1000(harnessCpuSeconds.load), sink: per1000(harnessCpuSeconds.sink) },
    peakMiB,
    foreignCores: window.foreignCores,
  };
}

function throughputText(title: string, run: ThroughputRun): string {
  const { deliveriesPerSecond, cpuPer1000ByPart, harnessCpuPer1000, peakMiB, missing, repeated } = run;
  const parts = PARTS.map((part) => `${part} ${cpuPer1000ByPart[part].toFixed(3)}`).join(', ');
  return [
    `  ${title}: ${deliveriesPerSecond.toFixed(0)} deliveries/s`,
    `CPU s per 1,000: ${run.cpuPer1000.toFixed(3)} (${parts}; load ${harnessCpuPer1000.load.toFixed(3)}, sink ${harnessCpuPer1000.sink.toFixed(3)})`,
    `webhook-delivery ${peakMiB['webhook-delivery'].toFixed(0)} MiB`,
    `foreign load ${run.foreignCores.toFixed(2)} cores`,
    `missing ${String(missing)}, repeated ${String(repeated)}`,
  ].join('; ');
}

const SLOW_MS = 200;

/** All endpoints answer after 200 ms: what the number of attempts in flight allows. */
export async function measureSlow(context: BenchContext): Promise<ThroughputRun> {
  const { harness, subscribers } = context;
  const endpoints = subscribers.single.map((_, endpoint) => endpoint);
  await harness.behave(endpoints, { type: 'answer', status: 200, delayMs: SLOW_MS });
  try {
    return await measureThroughput(context, `Every endpoint answers after ${String(SLOW_MS)} ms`, subscribers.single);
  } finally {
    await harness.behave(endpoints, HEALTHY);
  }
}
