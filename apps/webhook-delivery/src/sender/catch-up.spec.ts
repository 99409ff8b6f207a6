import { describe, expect, it } from '@jest/globals';
import { createCatchUp } from './catch-up.js';
import { PartitionQueues } from './partition-queues.js';
import { SenderBench } from './testing/sender-bench.js';

const build = async () => {
  const { backend, codecs } = await SenderBench.create();
  const queues = new PartitionQueues({
    limits: { perSubscription: 500, total: 2_000, guaranteed: 16 },
    start: { offset: 0, foldFrom: 0 },
    begun: { upTo: -1, foldFrom: 0 },
    attemptsEnd: () => 0,
  });
  let caughtUp = 0;
  const catchUp = createCatchUp({
    ...{ backend, codecs, partition: 0, queues },
    take: () => undefined,
    onCaughtUp: () => caughtUp++,
    onFailure: (error) => {
      throw error;
    },
  });
  return { queues, catchUp, caughtUp: () => caughtUp };
};

const aMoment = () => new Promise((resolve) => setTimeout(resolve, 20));

describe('catching up', () => {
  it('leaves a queue alone that is ahead of the reader: below its place everything is finished already', async () => {
    const { queues, catchUp, caughtUp } = await build();
    const queue = queues.queue('parked by a predecessor');
    queues.leaveFrom(queue, 1_900);
    queues.position = 100;
    catchUp.kick();
    await aMoment();
    expect(queue.behindFrom).toBe(1_900);
    expect(caughtUp()).toBe(0);
    await catchUp.close();
  });

  it('is over at once for a queue at which the reader stands', async () => {
    const { queues, catchUp, caughtUp } = await build();
    const queue = queues.queue('parked by a predecessor');
    queues.leaveFrom(queue, 1_900);
    queues.position = 1_900;
    catchUp.kick();
    await aMoment();
    expect(queue.behindFrom).toBeNull();
    expect(caughtUp()).toBe(1);
    await catchUp.close();
  });
});
