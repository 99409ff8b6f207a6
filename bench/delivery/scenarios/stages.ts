import { topics } from '@waypost/contracts';
import type { WebhookDelivery } from '@waypost/domain';
import type { RunningApp } from '../../shared/stack/applications.js';
import { type Percentiles, percentilesOf } from '../../shared/statistics.js';
import { eventNumberOf, openAttemptsLog, openTail } from '../analysis/attempts-log.js';
import type { BenchContext } from '../bench-context.js';
import type { BenchFlags } from '../bench-flags.js';
import { measureRated } from './rated-load.js';
import { secondsOf } from './window.js';

/**
 * By the times that stand in the logs: the ping's append, the event's append (its transaction ends later), the reading
 * by the fan-out, the delivery's append, the start of the attempt, and the receipt.
 */
export const STAGES = ['processor', 'to the fan-out', 'fan-out', 'to the sender', 'POST'] as const;
export type Stage = (typeof STAGES)[number];

/** From the append of a ping to the receipt of its webhook, with all applications at work. */
export interface StagesRun {
  readonly perSecond: number;
  readonly totalMs: Percentiles;
  /** Append of the event to the receipt: what a webhook server of its own would take. */
  readonly eventToReceiptMs: Percentiles;
  readonly stagesMs: Readonly<Record<Stage, Percentiles>>;
  /** Cores in use, by part. */
  readonly cores: Readonly<Record<string, number>>;
  readonly foreignCores: number;
}

const RATES = [20, 360, 1_000];

export async function measureStages(context: BenchContext): Promise<StagesRun[]> {
  const { applications, flags, reporter, system } = context;
  await system.start();
  const others = {
    'telemetry-processor': await applications.start('telemetry-processor'),
    'public-api': await applications.start('public-api'),
  };
  const runs: StagesRun[] = [];
  try {
    for (const perSecond of ratesOf(flags)) {
      const title = `Stages at ${String(perSecond)} pings/s`;
      await reporter.during(title, async () => {
        const run = await measureRate(context, perSecond, others);
        runs.push(run);
        reporter.note(`  ${stagesText(run)}`);
      });
    }
  } finally {
    await Promise.all(Object.values(others).map((app) => app.stop()));
  }
  return runs;
}

function ratesOf({ halfRate, quick }: BenchFlags): readonly number[] {
  if (halfRate !== undefined) return [halfRate];
  return quick ? RATES.slice(1, 2) : RATES;
}

type OtherApps = Readonly<Record<string, RunningApp>>;

async function measureRate(context: BenchContext, perSecond: number, others: OtherApps): Promise<StagesRun> {
  const tails = await openTails(context);
  const attempts = await openAttemptsLog(context.stack);
  try {
    const usages: Record<string, number>[] = [];
    const { window, deliveries: measured } = await measureRated(context, { perSecond, records: 'pings' }, () => {
      usages.push(cpuSecondsOf(others));
    });
    const [before = {}, after = {}] = usages;
    const cpuSeconds = { ...window.cpuSeconds, ...minus(after, before) };
    const events = byEvent(await tails.events.read());
    const deliveries = byEvent(await tails.deliveries.read());
    const started = byEvent(await attempts.read());
    const marks = measured.flatMap(({ event, committedMs, receipts: [receipt] }) => {
      const [appended, delivery, attempt] = [events.get(event), deliveries.get(event), started.get(event)];
      if (!appended || !delivery || !attempt || !receipt) return [];
      const { createdMs, appendedMs } = delivery;
      return [[committedMs, appended.appendedMs, createdMs, appendedMs, attempt.startedMs, receipt.receivedMs]];
    });
    const cores = mapValues(cpuSeconds, (value) => value / secondsOf(window));
    const foreignCores = window.foreignCores - Object.keys(others).reduce((total, app) => total + (cores[app] ?? 0), 0);
    return { perSecond, ...summaryOf(marks), cores, foreignCores };
  } finally {
    await Promise.all([tails.events.close(), tails.deliveries.close(), attempts.close()]);
  }
}

function cpuSecondsOf(apps: OtherApps): Record<string, number> {
  return mapValues(apps, (app) => app.usage().cpuSeconds);
}

function mapValues<T>(
  values: Readonly<Record<string, T>>,
  map: (value: T, key: string) => number,
): Record<string, number> {
  return Object.fromEntries(Object.entries(values).map(([key, value]) => [key, map(value, key)]));
}

function minus(after: Record<string, number>, before: Record<string, number>): Record<string, number> {
  return mapValues(after, (value, key) => value - (before[key] ?? 0));
}

async function openTails({ stack }: BenchContext) {
  return {
    events: await openTail({
      stack,
      topic: topics.fleetEvents.name,
      codecOf: ({ fleetEvents }) => fleetEvents,
      pick: ({ deviceId }, appendedMs) => ({ event: eventNumberOf(deviceId), appendedMs }),
    }),
    deliveries: await openTail({
      stack,
      topic: topics.webhookDeliveries.name,
      codecOf: ({ webhookDeliveries }) => webhookDeliveries,
      pick: ({ deviceId, createdAt }: WebhookDelivery, appendedMs) => ({
        event: eventNumberOf(deviceId),
        createdMs: createdAt,
        appendedMs,
      }),
    }),
  };
}

function byEvent<T extends { readonly event: number }>(records: readonly T[]): Map<number, T> {
  return new Map(records.map((record) => [record.event, record]));
}

function summaryOf(marks: readonly (readonly number[])[]) {
  const between = (from: number, to: number): Percentiles =>
    percentilesOf(marks.map((times) => Math.max(0, (times[to] ?? NaN) - (times[from] ?? NaN))));
  const stages = STAGES.map((stage, index) => [stage, between(index, index + 1)] as const);
  return {
    totalMs: between(0, STAGES.length),
    eventToReceiptMs: between(1, STAGES.length),
    stagesMs: Object.fromEntries(stages) as Record<Stage, Percentiles>,
  };
}

function stagesText({ totalMs, eventToReceiptMs, stagesMs, cores, foreignCores }: StagesRun): string {
  const text = ({ p50, p99 }: Percentiles): string => `${p50.toFixed(0)} / ${p99.toFixed(0)}`;
  const stages = STAGES.map((stage) => `${stage} ${text(stagesMs[stage])}`).join(', ');
  const usage = Object.entries(cores)
    .map(([part, value]) => `${part} ${value.toFixed(2)}`)
    .join(', ');
  return `ping to receipt p50 / p99 ${text(totalMs)} ms (${String(totalMs.count)}), event to receipt ${text(eventToReceiptMs)}; ${stages}; cores: ${usage}, others ${foreignCores.toFixed(2)}`;
}
