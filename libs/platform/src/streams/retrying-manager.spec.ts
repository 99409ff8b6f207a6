import { describe, expect, it } from '@jest/globals';
import type { TaskManager } from '@waypost/streams';
import { flushed } from '../../../../test/support/until.js';
import { RetryingManager } from './retrying-manager.js';

/** Members of the group; what happens when each is started is the test's to say. */
function build(starts: (() => Promise<void>)[]) {
  const members: { fatal: (error: Error) => void; stops: number }[] = [];
  const waits: number[] = [];
  const consumer = new RetryingManager({
    groupId: 'retried',
    createManager: (fatal): TaskManager => {
      const member = { fatal, stops: 0 };
      const start = starts[members.push(member) - 1] ?? (() => Promise.resolve());
      return {
        start,
        stop: () => {
          member.stops += 1;
          return Promise.resolve();
        },
        ready: () => true,
        tasks: () => [],
        command: () => undefined,
      };
    },
    logger: { warn: () => undefined },
    wait: (ms) => {
      waits.push(ms);
      return Promise.resolve();
    },
  });
  return { consumer, members, waits };
}
function away() {
  return Promise.reject(new Error('no broker answers'));
}

describe('the manager that retries', () => {
  it('stays with its member until it is stopped, and then lets it leave', async () => {
    const { consumer, members } = build([]);
    void consumer.start();
    void consumer.start();
    await flushed();
    expect(members.map((member) => member.stops)).toEqual([0]);
    await consumer.stop();
    expect(members.map((member) => member.stops)).toEqual([1]);
  });

  it('waits longer and longer while Kafka is away, and is quick again after it was there', async () => {
    const { consumer, members, waits } = build([away, away, away, away, away, away, away]);
    void consumer.start();
    await flushed();
    expect(waits).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]);

    members.at(-1)?.fatal(new Error('silent for minutes'));
    await flushed();
    expect(waits.at(-1)).toBe(1_000);
    expect(members).toHaveLength(9);
    await consumer.stop();
    expect(members.map((member) => member.stops)).toEqual(members.map(() => 1));
  });

  it('does not wait for a start that is on its way when it is stopped, and undoes it when it ends', async () => {
    let finish: () => void = () => undefined;
    const slow = () =>
      new Promise<void>((resolve) => {
        finish = resolve;
      });
    const { consumer, members } = build([slow]);
    void consumer.start();
    await flushed();
    await consumer.stop();
    expect(members.map((member) => member.stops)).toEqual([1]);
    finish();
    await flushed();
    expect(members.map((member) => member.stops)).toEqual([2]);
  });

  it('can be stopped before it was started', async () => {
    const { consumer, members } = build([]);
    await consumer.stop();
    void consumer.start();
    await flushed();
    expect(members).toEqual([]);
  });
});
