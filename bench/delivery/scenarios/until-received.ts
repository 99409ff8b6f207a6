import type { BenchContext } from '../bench-context.js';
import { pause } from './window.js';

const POLL_SECONDS = 0.2;

/** Waits until the sink has received so many requests. @returns whether it has, in time */
export async function untilReceived(context: BenchContext, count: number, seconds: number): Promise<boolean> {
  const deadlineMs = context.now() + seconds * 1_000;
  for (;;) {
    const { received } = await context.harness.count();
    if (received >= count) return true;
    if (context.now() > deadlineMs) return false;
    await pause(context, POLL_SECONDS);
  }
}

interface Quiet {
  readonly quietSeconds: number;
  /** At most. */
  readonly seconds: number;
}

/** Waits until the sink has received nothing for a while: what repeats how often is not known before. */
export async function untilQuiet(context: BenchContext, { quietSeconds, seconds }: Quiet): Promise<void> {
  const deadlineMs = context.now() + seconds * 1_000;
  let last = -1;
  let sinceMs = context.now();
  while (context.now() < deadlineMs && context.now() - sinceMs < quietSeconds * 1_000) {
    const { received } = await context.harness.count();
    if (received !== last) sinceMs = context.now();
    last = received;
    await pause(context, POLL_SECONDS);
  }
}
