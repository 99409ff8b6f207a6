import { describe, expect, it } from '@jest/globals';
import { createRandom } from '../../../tools/simulator/random.js';
import { createMadeUpLog } from './made-up-log.js';

const DAY_MS = 86_400_000;
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

  it('has first attempts days after their deliveries, and later ones days after the first, never from the future', () => {
    const log = createMadeUpLog(createRandom(1));
    const attempts = Array.from({ length: 5_000 }, () => log.next(NOW));
    const isLater = (from: number, to: number): boolean => to - from > 2 * DAY_MS;

    const first = attempts.filter(({ deliveryCreatedAt, firstAttemptAt }) =>
      isLater(deliveryCreatedAt, firstAttemptAt),
    );
    const later = attempts.filter(({ firstAttemptAt, startedAt }) => isLater(firstAttemptAt, startedAt));
    expect(first.length).toBeGreaterThan(50);
    expect(later.length).toBeGreaterThan(10);
    expect(later.filter(({ startedAt }) => startedAt > NOW)).toEqual([]);
  });
});
