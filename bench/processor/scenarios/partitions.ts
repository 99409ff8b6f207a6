import { setTimeout as sleep } from 'node:timers/promises';
import { createKafkaBackend, silentLogger, type StreamsBackend } from '@waypost/streams';
import { readToEnd } from '@waypost/streams/admin';
import { sumUsage, usageOf } from '../../shared/processes/process-usage.js';
import type { BenchContext } from '../bench-context.js';
import { anyFailure, type Configuration, createDeployment } from '../sides/deployment.js';
import { type GroupWatch, watchGroup } from '../stack/bench-groups.js';
import { INPUT } from '../stack/bench-topics.js';
import { type LatencyRun, parseLatency } from './latency.js';

/** A trickle on many partitions, of which each process has many. */
export interface PartitionsRun extends LatencyRun {
  /** From the start of the processes to a commit in every partition, with less than a second of pings to do. */
  readonly startUpMs: number;
  readonly commitsPerSecond: number;
  readonly brokerCpuPerMillion: number;
  readonly cpuPerMillion: number;
  readonly peakMiB: number;
}

export interface PartitionsPlan {
  readonly partitions: number;
  readonly pingsPerSecond: number;
  readonly devices: number;
  readonly seconds: number;
  readonly warmUpSeconds: number;
}

const CAUGHT_UP_POLL_MS = 100;
/** More than the start of all processes takes. The load is ended before. */
const SPARE_SECONDS = 300;

export async function partitionsOnce(
  context: BenchContext,
  configuration: Configuration,
  plan: PartitionsPlan,
): Promise<PartitionsRun> {
  const { topics, programs, reporter } = context;
  return reporter.during(`${String(plan.partitions)} partitions, ${configuration.label}`, async () => {
    await topics.freshWidth(plan.partitions);
    const deployment = createDeployment(context, configuration);
    await deployment.clear();
    const watch = await watchGroup(context.admin, deployment.groupId, INPUT, context.now);
    const pings = plan.pingsPerSecond * (plan.seconds + plan.warmUpSeconds + SPARE_SECONDS);
    const load = programs.start('Load', [], {
      COUNT: String(pings),
      DEVICES: String(plan.devices),
      RATE: String(plan.pingsPerSecond),
    });
    load.output.catch(() => undefined);
    const startedAtMs = context.now();
    const processes = await deployment.startAll();
    try {
      const signal = anyFailure(context, processes);
      await watch.until(({ offsets }) => [...offsets.values()].every((offset) => offset > 0), { signal });
      const caughtUpAtMs = await untilCaughtUp(context, watch, plan, signal);
      await sleep(plan.warmUpSeconds * 1_000);
      const usage = (): number => sumUsage(processes.map((process_) => process_.usage())).cpuSeconds;
      const run = {
        configuration,
        startUpMs: caughtUpAtMs - startedAtMs,
        ...(await measure(context, plan, usage)),
        peakMiB: sumUsage(processes.map((process_) => process_.usage())).peakMiB,
      };
      reporter.note(partitionsText(run));
      return run;
    } finally {
      load.stop();
      await Promise.all(processes.map((process_) => process_.stop()));
      await deployment.clear();
    }
  });
}

async function untilCaughtUp(
  { topics }: BenchContext,
  watch: GroupWatch,
  { pingsPerSecond }: PartitionsPlan,
  signal: AbortSignal,
): Promise<number> {
  for (;;) {
    const written = await topics.inputSize();
    const { offsets, atMs } = await watch.read();
    const done = [...offsets.values()].reduce((sum, offset) => sum + offset, 0);
    if (written - done < pingsPerSecond) return atMs;
    await sleep(CAUGHT_UP_POLL_MS, undefined, { signal });
  }
}

async function measure(
  { stack, programs, topics, now }: BenchContext,
  { seconds }: PartitionsPlan,
  cpuSeconds: () => number,
): Promise<Omit<PartitionsRun, 'configuration' | 'startUpMs' | 'peakMiB'>> {
  const backend = createKafkaBackend({ kafka: stack.kafka, logger: silentLogger, now });
  try {
    const reader = programs.start('Drain', ['latency', String(seconds), '0']);
    await reader.line(/following/);
    const snapshot = async () => ({
      atMs: now(),
      pings: await topics.inputSize(),
      log: await transactionLogEnds(backend),
      broker: usageOf(stack.brokerPid).cpuSeconds,
      application: cpuSeconds(),
    });
    const before = await snapshot();
    const latency = parseLatency(await reader.output);
    const after = await snapshot();
    const millions = (after.pings - before.pings) / 1e6;
    const commits = await countCommits(backend, before.log, after.log);
    return {
      ...latency,
      commitsPerSecond: commits / ((after.atMs - before.atMs) / 1_000),
      brokerCpuPerMillion: (after.broker - before.broker) / millions,
      cpuPerMillion: (after.application - before.application) / millions,
    };
  } finally {
    await backend.close();
  }
}

const TRANSACTION_LOG = '__transaction_state';
/** Version, producer id, its epoch and the timeout come before it. */
const STATUS_AT = 16;
const COMPLETE_COMMIT = 4;

async function transactionLogEnds(backend: StreamsBackend): Promise<number[]> {
  const count = (await backend.partitionCount(TRANSACTION_LOG)) ?? 0;
  return Promise.all(
    Array.from({ length: count }, (_, partition) => backend.endOffset({ topic: TRANSACTION_LOG, partition })),
  );
}

async function countCommits(backend: StreamsBackend, from: readonly number[], to: readonly number[]): Promise<number> {
  const fetcher = backend.fetcher();
  let commits = 0;
  for (const [partition, end] of to.entries()) {
    const start = from[partition] ?? 0;
    await readToEnd(backend, fetcher, { topic: TRANSACTION_LOG, partition }, start, ({ records }) => {
      for (const { offset, value } of records) if (offset >= start && offset < end && isCommit(value)) commits++;
    });
  }
  await fetcher.close();
  return commits;
}

/** Whether a record of the transaction log says that a transaction is committed, markers and all. */
export function isCommit(value: Buffer | null): boolean {
  return value?.[STATUS_AT] === COMPLETE_COMMIT;
}

function partitionsText(run: PartitionsRun): string {
  return [
    `  ${run.configuration.label}: caught up after ${String(run.startUpMs)} ms`,
    `${run.commitsPerSecond.toFixed(0)} commits/s`,
    `CPU s per million: ${run.cpuPerMillion.toFixed(1)}, broker ${run.brokerCpuPerMillion.toFixed(1)}`,
    `p50 ${String(run.p50Ms)} ms, p99 ${String(run.p99Ms)} ms`,
    `peak ${run.peakMiB.toFixed(0)} MiB`,
  ].join('; ');
}
