import { times200 } from '../analysis/deliveries.js';
import type { BenchContext } from '../bench-context.js';
import { alike, singleDeliveries } from './rated-load.js';
import { untilAnswered200 } from './window.js';

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
    const targets = alike(subscribers.single);
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
