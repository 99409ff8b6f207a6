import { describe, expect, it } from '@jest/globals';
import { Interruption } from './interruption.js';

const reason = new Error('enough');
const never = (): Promise<string> => new Promise(() => undefined);

describe('an interruption', () => {
  it('lets guarded work end as it ends', async () => {
    const interruption = new Interruption();
    expect(await interruption.guard(Promise.resolve('done'))).toBe('done');
    await expect(interruption.guard(Promise.reject(new Error('broken')))).rejects.toThrow('broken');
  });

  it('ends a wait that would never end, whether it is raised before or after', async () => {
    const interruption = new Interruption();
    const waiting = interruption.guard(never());
    interruption.raise(reason);
    await expect(waiting).rejects.toBe(reason);
    await expect(interruption.guard(never())).rejects.toBe(reason);
  });

  it('wins over work that ends at the same moment, when it was raised before', async () => {
    const interruption = new Interruption();
    interruption.raise(reason);
    await expect(interruption.guard(Promise.resolve('done'))).rejects.toBe(reason);
    expect(() => {
      interruption.throwIfRaised();
    }).toThrow(reason);
  });

  it('gives work a grace to end in', async () => {
    const interruption = new Interruption();
    const work = interruption.guard(new Promise((resolve) => setTimeout(resolve, 20, 'in time')), 2_000);
    interruption.raise(reason);
    expect(await work).toBe('in time');
  });

  it('ends a pause at once', async () => {
    const interruption = new Interruption();
    const startedAt = Date.now();
    const pausing = interruption.pause(5_000);
    interruption.raise(reason);
    await pausing;
    await interruption.pause(5_000);
    expect(Date.now() - startedAt).toBeLessThan(1_000);
  });

  it('keeps no listener of what has ended', async () => {
    const interruption = new Interruption();
    let called = 0;
    const stop = interruption.listen(() => called++);
    stop();
    await interruption.guard(Promise.resolve());
    interruption.raise(reason);
    interruption.raise(reason);
    expect(called).toBe(0);
  });
});
