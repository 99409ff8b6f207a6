import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { createPacer } from './pacer.js';

function build(perSecond: number | null) {
  const clock = { nowMs: 0 };
  const pacer = createPacer(perSecond, {
    now: () => clock.nowMs,
    sleep: (ms) => {
      clock.nowMs += ms;
      return Promise.resolve();
    },
  });
  return { clock, pacer };
}

async function send(total: number, { pacer }: ReturnType<typeof build>): Promise<void> {
  for (let left = total; left > 0; left -= pacer.chunkSize) await pacer.take(Math.min(left, pacer.chunkSize));
}

describe('The pacer', () => {
  it('does not wait without a rate', async () => {
    const run = build(null);
    await send(100_000, run);
    expect(run.clock.nowMs).toBe(0);
  });

  it('spreads any number of pings over the time that the rate gives them', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 5_000 }), fc.integer({ min: 1, max: 2_000 }), async (rate, total) => {
        const run = build(rate);
        await send(total, run);
        const fullMs = (total / rate) * 1_000;
        const lastChunkMs = (run.pacer.chunkSize / rate) * 1_000;
        expect(run.clock.nowMs).toBeLessThanOrEqual(fullMs + 0.001);
        expect(run.clock.nowMs).toBeGreaterThanOrEqual(fullMs - lastChunkMs - 0.001);
      }),
      { numRuns: 50 },
    );
  });
});
