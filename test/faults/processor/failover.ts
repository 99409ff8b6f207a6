import { availableParallelism, loadavg } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { consumerGroups } from '@waypost/contracts';
import { type GroupProgressReader, openGroupProgress } from '@waypost/platform/without-nest';
import { drain } from '../shared/fault-run.js';
import type { SuiteContext } from '../shared/fault-suite.js';
import { whatIsLeft } from './progress.js';
import { type Stage } from './stage.js';
import { startTraffic } from './traffic.js';

export interface FailoverTimes {
  /** From SIGKILL and an immediate restart until every partition moves again, each time. */
  readonly restartMs: readonly number[];
  /** From SIGKILL without a restart until the other instance moves every partition. */
  readonly takeoverMs: readonly number[];
  /** From SIGTERM until the process is gone. */
  readonly leaveMs: readonly number[];
  /** From SIGTERM until the other instance moves every partition. */
  readonly handoverMs: readonly number[];
  /** More to do than processors to do it, before anything was started: the times say little. */
  readonly busyMachine: boolean;
}

/** What the product promises. */
const LIMITS_MS = { restartMs: 3_000, takeoverMs: 10_000, leaveMs: 1_000 } as const;
const BUSY_SHARE = 1.5;
const ROUNDS = 3;
const POLL_MS = 20;
const GIVE_UP_MS = 40_000;
const SETTLE_MS = 3_000;

/** How long the input stands still when an instance goes, in one way or another. Two instances, steady traffic. */
export async function measureFailover({ seed, note }: SuiteContext, stage: Stage): Promise<FailoverTimes> {
  const { kafka, registryUrl, processors } = stage;
  const [first, second] = processors;
  if (first === undefined || second === undefined) throw new Error('Two instances are needed.');
  await stage.start([0, 1]);
  const traffic = await startTraffic({
    kafka,
    registryUrl,
    fleetId: 'failover',
    seed,
    vehicles: 240,
    pingsPerSecond: 400,
  });
  const times = {
    restartMs: [] as number[],
    takeoverMs: [] as number[],
    leaveMs: [] as number[],
    handoverMs: [] as number[],
    busyMachine: (loadavg()[0] ?? 0) > BUSY_SHARE * availableParallelism(),
  };
  const reader = await openGroupProgress(kafka);
  try {
    for (let round = 0; round < ROUNDS; round += 1) {
      await sleep(SETTLE_MS);
      await first.kill();
      first.start();
      times.restartMs.push(await untilAllMove(reader));
      await sleep(SETTLE_MS);
      await first.kill();
      times.takeoverMs.push(await untilAllMove(reader));
      await stage.start([0]);
      await sleep(SETTLE_MS);
      const stopping = first.stop();
      times.handoverMs.push(await untilAllMove(reader));
      times.leaveMs.push(Math.round(await stopping));
      await stage.start([0]);
      note(`  failover, round ${String(round + 1)} of ${String(ROUNDS)}: ${JSON.stringify(times)}`);
    }
  } finally {
    await reader.close();
    await traffic.stop();
  }
  await drain(() => whatIsLeft(kafka, processors), GIVE_UP_MS);
  await Promise.all([first.stop(), second.stop()]);
  return times;
}

/** A partition counts as moving when it has committed something that it had not a moment after the call. */
async function untilAllMove(reader: GroupProgressReader): Promise<number> {
  const startedAt = performance.now();
  // What was on its way when the process ended may still arrive.
  await sleep(50);
  const before = await committed(reader);
  for (;;) {
    const now = await committed(reader);
    const elapsedMs = Math.round(performance.now() - startedAt);
    if ([...before].every(([partition, offset]) => (now.get(partition) ?? 0) > offset)) return elapsedMs;
    if (elapsedMs > GIVE_UP_MS) return elapsedMs;
    await sleep(POLL_MS);
  }
}

async function committed(reader: GroupProgressReader): Promise<Map<number, number>> {
  const progress = await reader.read([consumerGroups.telemetryProcessor]);
  return new Map(progress.map(({ partition, committedOffset }) => [partition, committedOffset ?? 0]));
}

/** The limits hold for a machine that has time for it: starting a process is mostly work for a processor. */
export function failoverProblems(times: FailoverTimes): string[] {
  if (times.busyMachine) return [];
  return Object.entries(LIMITS_MS).flatMap(([name, limitMs]) =>
    times[name as keyof typeof LIMITS_MS]
      .filter((tookMs) => tookMs > limitMs)
      .map((tookMs) => `failover: ${name} was ${String(tookMs)}, more than ${String(limitMs)}`),
  );
}
