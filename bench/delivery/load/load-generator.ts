import { startEventLoad, type EventLoad } from './event-load.js';
import { openEventWriter, type EventWriter, type WriterOptions } from './event-writer.js';
import type { LoadPlan, LoadRequestMessage, LoadResult } from './messages.js';
import { rawPosts } from './raw-posts.js';

/** Events of earlier runs may still be under way: no number is given twice on one stack. */
const EVENTS_PER_SECOND_AT_MOST = 100_000;
const NUMBER_LIMIT = 1e12;

export interface LoadGenerator {
  handle(message: LoadRequestMessage): unknown;
}

export function createLoadGenerator(now: () => number): LoadGenerator {
  let nextEvent = Math.floor((now() / 1_000) * EVENTS_PER_SECOND_AT_MOST) % NUMBER_LIMIT;
  let options: WriterOptions | undefined;
  let writer: EventWriter | undefined;
  /** Of a plan with a topic of its own: kafkajs goes on asking for a topic, and fails, when that is deleted. */
  let ownWriter: EventWriter | undefined;
  let load: EventLoad | undefined;

  async function connect(to: WriterOptions): Promise<void> {
    options = to;
    writer = await openEventWriter(to);
  }

  async function start(plan: LoadPlan): Promise<void> {
    if (options === undefined || writer === undefined) throw new Error('Not connected.');
    ownWriter = plan.topic === undefined ? undefined : await openEventWriter(options);
    load = startEventLoad(ownWriter ?? writer, plan, { firstEvent: nextEvent, now });
  }

  async function finish(stop: boolean, file: string): Promise<LoadResult> {
    if (load === undefined) throw new Error('Nothing was started.');
    const finished = load;
    if (stop) finished.stop();
    const result = await finished.done;
    await ownWriter?.close();
    nextEvent += finished.sent.rows;
    finished.sent.save(file);
    return result;
  }

  return {
    handle(message) {
      switch (message.type) {
        case 'connect':
          return connect(message);
        case 'start':
          return start(message.plan);
        case 'finish':
          return finish(message.stop, message.file);
        case 'answered':
          load?.answered(message.answered200);
          return null;
        case 'posts':
          return rawPosts(message.ports, message.connections, message.seconds);
      }
    },
  };
}
