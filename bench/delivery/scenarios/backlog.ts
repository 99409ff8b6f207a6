import { times200 } from '../analysis/deliveries.js';
import type { BenchContext } from '../bench-context.js';
import { singleDeliveries } from './healthy.js';
import { pause, untilAnswered200 } from './window.js';

/** Events that wait when webhook-delivery starts. */
export interface BacklogRun {
  readonly events: number;
  /** From the start of the processes to the last receipt. */
  readonly seconds: number;
  /** From the first receipt to the last. */
  readonly streamingPerSecond: number;
  readonly missing: number;
  readonly repeated: number;
}

const MOST_SECONDS = 600;

export async function measureBacklog(context: BenchContext): Promise<BacklogRun> {
  const { harness, system, subscribers, flags, reporter, now } = context;
  return reporter.during(`A backlog of ${String(flags.backlog)} events`, async () => {
    await system.stop();
    await harness.forget();
    const targets = subscribers.single.map((fleet) => ({ ...fleet, weight: 1 }));
    await harness.start({ targets, amount: { type: 'flood', events: flags.backlog } });
    const sent = await harness.finish({ stop: false });
    const startedMs = now();
    await system.start();
    await untilAnswered200(context, sent.events, MOST_SECONDS);
    const deliveries = await singleDeliveries(context, sent);
    let firstMs = Infinity;
    let lastMs = -Infinity;
    for (const { receipts } of deliveries) {
      for (const { receivedMs } of receipts) {
        firstMs = Math.min(firstMs, receivedMs);
        lastMs = Math.max(lastMs, receivedMs);
      }
    }
    const run = {
      events: sent.events,
      seconds: (lastMs - startedMs) / 1_000,
      streamingPerSecond: sent.events / ((lastMs - firstMs) / 1_000),
      missing: deliveries.filter((delivery) => times200(delivery) === 0).length,
      repeated: deliveries.filter((delivery) => times200(delivery) > 1).length,
    };
    reporter.note(
      `  Backlog: ${run.seconds.toFixed(1)} s from the start, ${run.streamingPerSecond.toFixed(0)} deliveries/s from the first receipt; missing ${String(run.missing)}, repeated ${String(run.repeated)}`,
    );
    return run;
  });
}

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
