import { describe, expect, it } from '@jest/globals';
import { createRandom } from '../../../tools/simulator/random.js';
import { createMadeUpLog } from './made-up-log.js';

const NOW = Date.UTC(2026, 5, 20, 12);

describe('the made-up log', () => {
  it('often has the next attempt of a delivery right after a repeat of a retry', () => {
    const log = createMadeUpLog(createRandom(1));
    const attempts = Array.from({ length: 5_000 }, () => log.next(NOW));
    const pairs = attempts.slice(1).flatMap((after, index) => {
      const repeat = attempts[index];
      const isRepeat = repeat?.statusCode === 599 && repeat.body === null;
      return isRepeat && repeat.eventId === after.eventId && repeat.series === after.series ? [{ repeat, after }] : [];
    });

    expect(pairs.length).toBeGreaterThan(25);
    for (const { repeat, after } of pairs)
      expect(after.attempt + after.probes).toBeGreaterThan(repeat.attempt + repeat.probes - (repeat.probe ? 1 : 0));
  });
});
