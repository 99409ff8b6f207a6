import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { AppInstance } from '../shared/app-instance.js';
import type { Interruption } from './judge/observations.js';

const READY_TIMEOUT_MS = 30_000;
const POLL_MS = 100;

export interface Watch {
  /** The address of the process that runs now. */
  readonly sourceNow: () => string;
  readonly now: () => number;
  readonly onInterrupted: (interruption: Interruption) => void;
}

/** An instance that reports, with the time just before the signal, when one of its processes is killed, stopped or woken. */
export function watchedInstance(instance: AppInstance, { sourceNow, now, onInterrupted }: Watch): AppInstance {
  let paused: { readonly source: string; readonly atMs: number } | null = null;
  const killed = (): void => {
    if (instance.up) onInterrupted({ type: 'killed', source: sourceNow(), atMs: now() });
  };
  return {
    instance: instance.instance,
    get up() {
      return instance.up;
    },
    get isStopping() {
      return instance.isStopping;
    },
    start: () => {
      instance.start();
    },
    kill() {
      killed();
      return instance.kill();
    },
    stop: () => instance.stop(),
    pause() {
      if (instance.up) paused = { source: sourceNow(), atMs: now() };
      instance.pause();
    },
    resume() {
      if (paused !== null) onInterrupted({ type: 'paused', ...paused, resumedMs: now() });
      paused = null;
      instance.resume();
    },
    async replacePaused(forMs) {
      // Of two that have yet to join, the later one keeps the name, and neither is the successor of the other.
      await untilReady(instance);
      if (!instance.up) return;
      const [source, atMs] = [sourceNow(), now()];
      await instance.replacePaused(forMs);
      onInterrupted({ type: 'replaced', source, atMs, resumedMs: atMs + forMs, endedMs: now() });
    },
    stepClock: () => {
      instance.stepClock();
    },
    problem: () => instance.problem(),
    pid: () => instance.pid(),
    adminUrl: () => instance.adminUrl(),
  };
}

async function untilReady(instance: AppInstance): Promise<void> {
  const deadline = performance.now() + READY_TIMEOUT_MS;
  while (instance.up && performance.now() < deadline && (await instance.problem()) !== null) await sleep(POLL_MS);
}

const FIRST_INSTANCE = 20;
const STARTS = 250;

/** A loopback address for each start of each instance: two processes never share one. */
export function senderAddress(instance: number, start: number): string {
  const bytes = [127, FIRST_INSTANCE + instance, Math.floor(start / STARTS), 1 + (start % STARTS)];
  return bytes.join('.');
}

/** @throws Error where such addresses cannot be used: Linux has all of 127.0.0.0/8, others have 127.0.0.1 alone */
export async function assertSenderAddresses(): Promise<void> {
  const host = senderAddress(0, 0);
  const server = createServer();
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause) => {
      reject(new Error(`This suite needs the loopback addresses 127.0.0.0/8, as Linux has them.`, { cause }));
    });
    server.listen({ host, port: 0 }, () => {
      server.close(() => {
        resolve();
      });
    });
  });
}
