import { waitOrAbort } from '@waypost/streams/admin';
import { busyCpuSeconds } from '../../shared/processes/process-usage.js';
import type { BenchContext } from '../bench-context.js';
import type { SinkCount } from '../sink/sink.js';
import { type Part, PARTS, type SystemUsage } from '../stack/system.js';

/** What happened between two moments of a load that goes on. */
export interface MeasuredWindow {
  readonly fromMs: number;
  readonly untilMs: number;
  readonly received: number;
  readonly answered200: number;
  readonly cpuSeconds: Readonly<Record<Part, number>>;
  readonly harnessCpuSeconds: { readonly load: number; readonly sink: number };
  readonly peakMiB: Readonly<Record<Part, number>>;
  /** Cores that were busy with other things than this benchmark: a machine that is not quiet spoils the figures. */
  readonly foreignCores: number;
}

export async function measureWindow(context: BenchContext, seconds: number): Promise<MeasuredWindow> {
  const { harness, system } = context;
  const look = async () => ({
    count: await harness.count(),
    usage: system.usage(),
    harness: harness.usage(),
    busy: busyCpuSeconds(),
  });
  const before = await look();
  await pause(context, seconds);
  const after = await look();
  const measured = {
    fromMs: before.count.atMs,
    untilMs: after.count.atMs,
    received: after.count.received - before.count.received,
    answered200: after.count.answered200 - before.count.answered200,
    cpuSeconds: byPart((part) => after.usage[part].cpuSeconds - before.usage[part].cpuSeconds),
    harnessCpuSeconds: {
      load: after.harness.load.cpuSeconds - before.harness.load.cpuSeconds,
      sink: after.harness.sink.cpuSeconds - before.harness.sink.cpuSeconds,
    },
    peakMiB: byPart((part) => after.usage[part].peakMiB),
  };
  const { load, sink } = measured.harnessCpuSeconds;
  const own = sum(Object.values(measured.cpuSeconds)) + load + sink;
  return { ...measured, foreignCores: (after.busy - before.busy - own) / secondsOf(measured) };
}

/** Waits, unless the run is stopped or a part of the system ends. */
export async function pause({ system, signal }: BenchContext, seconds: number): Promise<void> {
  const ended = AbortSignal.any([signal, system.failed()]);
  await waitOrAbort(seconds * 1_000, ended);
  ended.throwIfAborted();
}

const POLL_SECONDS = 0.1;

/** Waits until the sink has answered so many with 200. @returns whether it has, in time */
export function untilAnswered200(context: BenchContext, count: number, seconds: number): Promise<boolean> {
  return untilCounted(context, seconds, ({ answered200 }) => answered200 >= count);
}

/** Waits until the sink has received so many requests. @returns whether it has, in time */
export function untilReceived(context: BenchContext, count: number, seconds: number): Promise<boolean> {
  return untilCounted(context, seconds, ({ received }) => received >= count);
}

/** Waits until the sink has received nothing for a while: how much is repeated is not known before. */
export async function untilQuiet(context: BenchContext, quietSeconds: number, seconds: number): Promise<void> {
  let last = -1;
  let sinceMs = 0;
  await untilCounted(context, seconds, ({ received, atMs }) => {
    if (received !== last) sinceMs = atMs;
    last = received;
    return atMs - sinceMs >= quietSeconds * 1_000;
  });
}

async function untilCounted(
  context: BenchContext,
  seconds: number,
  isReached: (count: SinkCount) => boolean,
): Promise<boolean> {
  const deadlineMs = context.now() + seconds * 1_000;
  for (;;) {
    if (isReached(await context.harness.count())) return true;
    if (context.now() > deadlineMs) return false;
    await pause(context, POLL_SECONDS);
  }
}

export function secondsOf({ fromMs, untilMs }: Pick<MeasuredWindow, 'fromMs' | 'untilMs'>): number {
  return (untilMs - fromMs) / 1_000;
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

/** Of everything that works on a delivery, the benchmark itself left out. */
export function cpuPer1000(window: MeasuredWindow, deliveries: number): number {
  return (sum(Object.values(window.cpuSeconds)) / deliveries) * 1_000;
}

function byPart(value: (part: Part) => number): Record<Part, number> {
  return Object.fromEntries(PARTS.map((part) => [part, value(part)])) as Record<keyof SystemUsage, number>;
}
