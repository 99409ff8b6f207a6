import type { BenchContext } from '../bench-context.js';
import { createScratchTopic } from '../stack/scratch-topic.js';

/** What load generator and sink can do by themselves: far more than the system, or they would be what is measured. */
export interface CapacityRun {
  readonly postsPerSecond: number;
  readonly eventsPerSecond: number;
}

const CONNECTIONS = 64;
const EVENTS = 60_000;

export async function measureCapacity(context: BenchContext): Promise<CapacityRun> {
  const { harness, reporter, subscribers, stack, flags } = context;
  return reporter.during('Load generator and sink alone', async () => {
    const postsPerSecond = await harness.rawPosts(CONNECTIONS, flags.quick ? 2 : 5);
    const scratch = await createScratchTopic(stack.brokers, flags.partitions);
    try {
      const targets = subscribers.single.map((fleet) => ({ ...fleet, weight: 1 }));
      await harness.start({ targets, amount: { type: 'flood', events: EVENTS }, topic: scratch.name });
      const { events, seconds } = await harness.finish({ stop: false });
      const run = { postsPerSecond, eventsPerSecond: events / seconds };
      reporter.note(
        `  Alone: the sink answers ${postsPerSecond.toFixed(0)} POSTs/s, the generator commits ${run.eventsPerSecond.toFixed(0)} events/s`,
      );
      return run;
    } finally {
      await scratch.remove();
      await harness.forget();
    }
  });
}
