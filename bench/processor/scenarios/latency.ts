import { settleOrAbort } from '@waypost/streams/admin';
import type { BenchContext } from '../bench-context.js';
import { anyFailure, type Configuration, createDeployment } from '../sides/deployment.js';
import { loadPings } from './backlog.js';

/** From the send of a ping to the moment when a read_committed consumer has its event. */
export interface LatencyRun {
  readonly configuration: Configuration;
  readonly events: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
}

export interface LatencyPlan {
  readonly pingsPerSecond: number;
  readonly devices: number;
  /** What is measured; the first event begins the warm-up before it. */
  readonly seconds: number;
  readonly warmUpSeconds: number;
}

/** Pings go on a little longer than the reader listens. */
const SPARE_SECONDS = 10;

const RESULT = /events=(\d+) p50=([\d.]+) p99=([\d.]+) max=([\d.]+) ms/;

export async function latencyOnce(
  context: BenchContext,
  configuration: Configuration,
  plan: LatencyPlan,
): Promise<LatencyRun> {
  const { topics, groups, reporter } = context;
  return reporter.during(`Latency of ${configuration.label}`, async () => {
    await topics.freshInput();
    await topics.freshOutputs();
    const deployment = createDeployment(context, configuration);
    await deployment.clear();
    const processes = await deployment.startAll();
    try {
      const signal = anyFailure(context, processes);
      // What piles up while it starts would still be in the figures when the machine is slow.
      await settleOrAbort(groups.untilStable(deployment.groupId, processes.length), signal);
      const run = { configuration, ...(await settleOrAbort(listen(context, plan), signal)) };
      reporter.note(`  ${configuration.label}: p50 ${String(run.p50Ms)} ms, p99 ${String(run.p99Ms)} ms`);
      return run;
    } finally {
      await Promise.all(processes.map((process_) => process_.stop()));
      await deployment.clear();
    }
  });
}

async function listen(
  context: BenchContext,
  { pingsPerSecond, devices, seconds, warmUpSeconds }: LatencyPlan,
): Promise<Omit<LatencyRun, 'configuration'>> {
  const total = seconds + warmUpSeconds;
  const reader = context.programs.start('Drain', ['latency', String(total), String(warmUpSeconds)]);
  try {
    await reader.line(/following/);
    const pings = pingsPerSecond * (total + SPARE_SECONDS);
    const [output] = await Promise.all([
      reader.output,
      loadPings(context, { from: 0, pings, devices, rate: pingsPerSecond }),
    ]);
    return parseLatency(output);
  } finally {
    reader.stop();
  }
}

export function parseLatency(output: string): Omit<LatencyRun, 'configuration'> {
  const [, events, p50Ms, p99Ms, maxMs] = RESULT.exec(output) ?? [];
  if (maxMs === undefined) throw new Error(`Not a latency: ${output}`);
  return { events: Number(events), p50Ms: Number(p50Ms), p99Ms: Number(p99Ms), maxMs: Number(maxMs) };
}
