import { describe, expect, it } from '@jest/globals';
import { settlesWithin } from '../../../../test/support/until.js';
import { createLogger } from '../logging/logger.js';
import { createLifecycle, type LifecyclePart } from './lifecycle.js';

const never = new Promise<void>(() => undefined);

function build(parts: readonly Partial<LifecyclePart>[]) {
  const calls: string[] = [];
  const output = { write: () => undefined };
  const logger = createLogger({ app: 'test', level: 'silent', output });
  const recorded = parts.map((part, index): LifecyclePart => {
    const name = part.name ?? String.fromCharCode(97 + index);
    return {
      ...part,
      name,
      start: async () => {
        calls.push(`start ${name}`);
        await part.start?.();
      },
      stop: async (budgetMs) => {
        calls.push(`stop ${name}`);
        await part.stop?.(budgetMs);
      },
    };
  });
  const lifecycle = createLifecycle({ logger, monotonicMs: () => performance.now() });
  lifecycle.add(recorded);
  return { lifecycle, calls };
}

describe('createLifecycle (R-40)', () => {
  it('starts in order, one after the other, and stops in reverse', async () => {
    const { lifecycle, calls } = build([{}, {}, {}]);

    expect(await lifecycle.start()).toEqual({ type: 'started' });
    expect(await lifecycle.stop()).toEqual({ type: 'clean' });

    expect(calls).toEqual(['start a', 'start b', 'start c', 'stop c', 'stop b', 'stop a']);
  });

  it('stops what had started, in reverse, when a later part fails to start, and throws that failure', async () => {
    const failure = new Error('no broker');
    const { lifecycle, calls } = build([{}, {}, { start: () => Promise.reject(failure) }, {}]);

    await expect(lifecycle.start()).rejects.toBe(failure);

    expect(calls).toEqual(['start a', 'start b', 'start c', 'stop b', 'stop a']);
    expect(lifecycle.status().map((part) => part.state)).toEqual(['stopped', 'stopped', 'failed', 'waiting']);
  });

  it('stops the others when one fails to stop or overruns its time, and names both', async () => {
    const { lifecycle, calls } = build([
      {},
      { stop: () => Promise.reject(new Error('already closed')) },
      { stop: () => never, stopTimeoutMs: 10 },
    ]);
    await lifecycle.start();

    expect(await lifecycle.stop()).toEqual({ type: 'unclean', parts: ['c', 'b'] });

    expect(calls.slice(3)).toEqual(['stop c', 'stop b', 'stop a']);
  });

  it('spends no more than the deadline on all stops together', async () => {
    const { lifecycle } = build([{ stop: () => never }, { stop: () => never }, { stop: () => never }]);
    await lifecycle.start();

    // Half a second for each would be more.
    expect(await settlesWithin(1_000, lifecycle.stop(500))).toBe(true);
  });

  it('stops a part whose start is still pending and starts no further ones', async () => {
    let release: () => void = () => undefined;
    const { lifecycle, calls } = build([
      {},
      { start: () => new Promise<void>((resolve) => (release = resolve)), stop: () => release() },
      {},
    ]);
    const start = lifecycle.start();
    await new Promise((resolve) => setImmediate(resolve));

    expect(await lifecycle.stop()).toEqual({ type: 'clean' });

    expect(await start).toEqual({ type: 'interrupted' });
    expect(calls).toEqual(['start a', 'start b', 'stop b', 'stop a']);
  });

  it('stops once, however often it is asked', async () => {
    const { lifecycle, calls } = build([{}]);
    await lifecycle.start();

    await Promise.all([lifecycle.stop(), lifecycle.stop()]);

    expect(calls).toEqual(['start a', 'stop a']);
  });

  it('is ready once every part has started, and no longer once it stops', async () => {
    const { lifecycle } = build([{}, { start: () => void startedBefore.push(lifecycle.ready()) }]);
    const startedBefore: boolean[] = [];
    await lifecycle.start();

    expect(startedBefore).toEqual([false]);
    expect(lifecycle.ready()).toBe(true);
    expect(lifecycle.status()).toEqual([
      { name: 'a', state: 'started', ready: true },
      { name: 'b', state: 'started', ready: true },
    ]);

    const stop = lifecycle.stop();
    expect(lifecycle.ready()).toBe(false);
    await stop;
  });

  it('starts parts that an earlier part adds while it starts', async () => {
    const { lifecycle, calls } = build([{ start: () => add() }]);
    const add = (): void => {
      lifecycle.add([
        { name: 'late', start: () => void calls.push('start late'), stop: () => void calls.push('stop late') },
      ]);
    };

    await lifecycle.start();
    await lifecycle.stop();

    expect(calls).toEqual(['start a', 'start late', 'stop late', 'stop a']);
  });

  it('gives a part the rest of the deadline, and names what the part reports as left behind', async () => {
    const budgets: number[] = [];
    const { lifecycle } = build([
      { stop: (budgetMs) => void budgets.push(budgetMs), leftBehind: () => ['sender', 'fan-out'] },
    ]);
    await lifecycle.start();

    expect(await lifecycle.stop(500)).toEqual({ type: 'unclean', parts: ['sender', 'fan-out'] });

    expect(budgets[0]).toBeGreaterThan(0);
    expect(budgets[0]).toBeLessThanOrEqual(500);
  });
});
