import { describe, expect, it } from '@jest/globals';
import { DutyCycle } from './duty-cycle.js';

/** Work by a clock that stands still but for it. */
function build(share: number) {
  let monotonicMs = 0;
  const cycle = new DutyCycle(() => monotonicMs, { share: () => share });
  const done: string[] = [];
  const run = (name: string, ms: number): Promise<void> =>
    cycle.run(() => {
      monotonicMs += ms;
      done.push(name);
    });
  return { cycle, done, run };
}

describe('DutyCycle', () => {
  it('runs pieces of work in the order in which they came, with a turn of the event loop between two', async () => {
    const { done, run } = build(1);
    const first = run('first', 1);
    const second = run('second', 1);
    await first;
    expect(done).toEqual(['first']);
    setImmediate(() => done.push('a socket'));
    await second;
    expect(done).toEqual(['first', 'a socket', 'second']);
  });

  it('goes on after a piece that throws, and says so to its caller only', async () => {
    const { cycle, done, run } = build(1);
    const broken = cycle.run(() => {
      throw new Error('broken');
    });
    await Promise.all([expect(broken).rejects.toThrow('broken'), run('next', 1)]);
    expect(done).toEqual(['next']);
  });

  it.each([
    [1, 20],
    [0.5, 60],
  ])('with a headroom of %d rests for %d ms after 20 ms of work', async (share, restMs) => {
    const { run } = build(share);
    await run('first', 20);
    const startedMs = performance.now();
    await run('second', 0);
    // Timers may fire a fraction early.
    expect(performance.now() - startedMs).toBeGreaterThan(restMs - 2);
  });
});
