import { busyCpuSeconds, treeUsage } from '../../shared/processes/process-usage.js';
import type { Worker } from '../../shared/processes/worker.js';
import type { RunningApp } from '../../shared/stack/applications.js';
import type { BenchStack } from '../../shared/stack/bench-stack.js';
import type { CallName } from '../bench-flags.js';
import type { LoadRequest, LoadResult } from '../load/messages.js';

export interface CallResult {
  readonly call: CallName;
  readonly requestsPerSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly kibPerAnswer: number;
  /** CPU time of one request, in milliseconds. */
  readonly cpuMs: { readonly api: number; readonly postgres: number; readonly load: number };
  /** What other programs took of the machine meanwhile. */
  readonly foreignCores: number;
}

export interface MeasuredParts {
  readonly stack: BenchStack;
  readonly api: RunningApp;
  readonly load: Worker;
}

/** Calls for a while after a warm-up. @throws when an answer is not 2xx */
export async function measureCall(
  call: CallName,
  request: LoadRequest & { readonly warmUpSeconds: number },
  parts: MeasuredParts,
): Promise<CallResult> {
  const { warmUpSeconds, ...wanted } = request;
  await parts.load.ask<LoadResult>({ ...wanted, seconds: warmUpSeconds });
  const before = cpuSecondsOf(parts);
  const result = await parts.load.ask<LoadResult>(wanted);
  const after = cpuSecondsOf(parts);
  if (result.failures > 0) throw new Error(`${call}: ${String(result.failures)} answers were not 2xx.`);
  const used = (part: keyof typeof before): number => after[part] - before[part];
  const own = used('api') + used('postgres') + used('load');
  const each = (seconds: number): number => (seconds * 1_000) / result.answers;
  return {
    call,
    requestsPerSecond: result.answers / result.seconds,
    p50Ms: result.latencyMs.p50,
    p99Ms: result.latencyMs.p99,
    kibPerAnswer: result.bytes / result.answers / 1_024,
    cpuMs: { api: each(used('api')), postgres: each(used('postgres')), load: each(used('load')) },
    foreignCores: Math.max(0, (used('machine') - own) / result.seconds),
  };
}

function cpuSecondsOf({ stack, api, load }: MeasuredParts) {
  return {
    api: api.usage().cpuSeconds,
    postgres: treeUsage(stack.postgresPid).cpuSeconds,
    load: load.usage().cpuSeconds,
    machine: busyCpuSeconds(),
  };
}
