import { describe, expect, it } from '@jest/globals';
import { createTurns, type Turns } from './turns.js';

/** Turns whose runs are held open until the test ends them. */
const build = (limits: { perSubscription: number; total: number }) => {
  const turns = createTurns(limits);
  const running: { subscriptionId: string; end: () => void }[] = [];
  const started: string[] = [];
  const enqueue = (subscriptionId: string, label = subscriptionId): void => {
    turns.enqueue(subscriptionId, {
      run: () =>
        new Promise((resolve) => {
          started.push(label);
          running.push({ subscriptionId, end: resolve });
        }),
    });
  };
  const endOne = async (subscriptionId: string): Promise<void> => {
    const index = running.findIndex((run) => run.subscriptionId === subscriptionId);
    running.splice(index, 1)[0]?.end();
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { turns, started, enqueue, endOne } satisfies { turns: Turns } & Record<string, unknown>;
};

describe('turns', () => {
  it('hold a subscription to its own cap while others start at once (R-26)', () => {
    const { started, enqueue } = build({ perSubscription: 2, total: 10 });
    for (let i = 0; i < 50; i++) enqueue('dead');
    enqueue('healthy');
    expect(started).toEqual(['dead', 'dead', 'healthy']);
  });

  it('start the work of one subscription in its order (R-28)', async () => {
    const { started, enqueue, endOne } = build({ perSubscription: 1, total: 10 });
    for (const label of ['first', 'second', 'third']) enqueue('s', label);
    await endOne('s');
    await endOne('s');
    expect(started).toEqual(['first', 'second', 'third']);
  });

  it('let waiting subscriptions take turns when the process is at its cap', async () => {
    const { started, enqueue, endOne } = build({ perSubscription: 10, total: 1 });
    enqueue('flood', 'flood 1');
    for (let i = 2; i <= 20; i++) enqueue('flood', `flood ${String(i)}`);
    enqueue('quiet', 'quiet 1');
    await endOne('flood');
    await endOne('flood');
    expect(started.slice(0, 3)).toContain('quiet 1');
  });

  it('never exceed the cap of the process and start everything in the end', async () => {
    const { turns, started, enqueue, endOne } = build({ perSubscription: 3, total: 4 });
    for (let i = 0; i < 12; i++) enqueue(`s${String(i % 3)}`);
    let most = turns.inFlight;
    for (let i = 0; i < 12; i++) {
      most = Math.max(most, turns.inFlight);
      await endOne(started[i] ?? '');
    }
    expect(most).toBe(4);
    expect(started).toHaveLength(12);
    expect(turns.inFlight).toBe(0);
  });
});
