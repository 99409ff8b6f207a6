import { beforeEach, describe, expect, it } from '@jest/globals';
import type { WebhookAttempt } from '@waypost/domain';
import { type AttemptsHarness, createAttemptsHarness, first } from '../testing/attempts-task-harness.js';

let build: AttemptsHarness['build'];
let batchOf: AttemptsHarness['batchOf'];

beforeEach(async () => {
  ({ build, batchOf } = await createAttemptsHarness());
});

describe('the pace of the attempts task', () => {
  const many = (count: number): WebhookAttempt[] => Array.from({ length: count }, (_, n) => first(n));

  it('lets a fifth of a second pass before more is read, and half a second while the flow is fast', async () => {
    const slow = build();
    await slow.task.open();
    await slow.task.process(batchOf(many(3), 4));
    expect(slow.waits).toEqual([200]);

    const fast = build();
    await fast.task.open();
    await fast.task.process(batchOf(many(99), 100));
    expect(fast.waits).toEqual([500]);
  });

  it.each([
    ['20 attempts in a transaction and 1,000 waiting', 20, 1_000, [200]],
    ['21 attempts in a transaction and 1,000 waiting', 21, 1_000, [500]],
    ['1,001 waiting', 1, 1_001, []],
  ])('has its limits at %s', async (_, count, lag, expected) => {
    const { task, waits } = build();
    await task.open();
    await task.process(batchOf(many(count), count + 1, count + 1 + lag));
    expect(waits).toEqual(expected);
  });

  it('writes what comes after a pause at once', async () => {
    const { task, find, processLater } = build();
    await task.open();
    await task.process(batchOf([first(1)], 2));
    await processLater(batchOf([first(2)], 3));
    expect(await find()).toHaveLength(2);
  });

  it('does not wait while the log is far ahead', async () => {
    const { task, find, waits } = build();
    await task.open();
    await task.process(batchOf([first(1)], 2, 5_000));
    await task.process(batchOf([first(2)], 3, 5_000));
    expect(await find()).toHaveLength(2);
    expect(waits).toEqual([]);
  });

  it('writes a batch that was fetched before the pause together with the next one', async () => {
    const { task, find, commits, events, processLater } = build();
    await task.open();
    await task.process(batchOf([first(1)], 2));
    await task.process(batchOf([first(2)], 3));
    expect(await find()).toHaveLength(1);
    await processLater(batchOf([first(3)], 5));

    expect(await find()).toHaveLength(3);
    expect(commits).toEqual([0, 2, 5]);
    expect(events).toEqual(['applied 1', 'applied 2']);
  });

  it('writes deferred records when no more arrive', async () => {
    const { task, store, find, commits } = build();
    await task.open();
    await task.process(batchOf([first(1)], 2));
    await task.process(batchOf([first(2)], 3));
    await task.idle?.();
    await task.idle?.();

    expect(await find()).toHaveLength(2);
    expect(commits).toEqual([0, 2, 3]);
    expect(await store.projection.readPosition('webhook.attempts', 2)).toBe(3);
  });
});
