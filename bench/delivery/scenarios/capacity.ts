import { connectKafka } from '@waypost/streams/admin';
import { PARTITIONS } from '../../shared/stack/bench-stack.js';
import type { BenchContext } from '../bench-context.js';
import { alike } from './rated-load.js';

/** What load generator and sink can do alone: far more than the system, or they would be what is measured. */
export interface CapacityRun {
  readonly postsPerSecond: number;
  readonly eventsPerSecond: number;
}

const CONNECTIONS = 64;
const EVENTS = 60_000;

export async function measureCapacity(context: BenchContext): Promise<CapacityRun> {
  const { harness, reporter, flags } = context;
  return reporter.during('Load generator and sink alone', async () => {
    const postsPerSecond = await harness.rawPosts(CONNECTIONS, flags.quick ? 2 : 5);
    const eventsPerSecond = await commitToScratchTopic(context);
    reporter.note(
      `  Alone: the sink answers ${postsPerSecond.toFixed(0)} POSTs/s, the generator commits ${eventsPerSecond.toFixed(0)} events/s`,
    );
    return { postsPerSecond, eventsPerSecond };
  });
}

/** To a topic like fleet.events that nothing reads. @returns events a second */
async function commitToScratchTopic({ harness, subscribers, stack, now }: BenchContext): Promise<number> {
  const topic = `bench.scratch-${String(now())}`;
  const admin = connectKafka(stack.kafka).admin();
  await admin.connect();
  const configEntries = [{ name: 'message.timestamp.type', value: 'LogAppendTime' }];
  await admin.createTopics({ topics: [{ topic, numPartitions: PARTITIONS, configEntries }] });
  try {
    const targets = alike(subscribers.single);
    await harness.start({ targets, amount: { type: 'flood', events: EVENTS }, topic });
    const { events, seconds } = await harness.finish({ stop: false });
    return events / seconds;
  } finally {
    await admin.deleteTopics({ topics: [topic] });
    await admin.disconnect();
    await harness.forget();
  }
}
