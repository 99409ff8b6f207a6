import { describe, expect, it } from '@jest/globals';
import type { DeliveryRecord } from '@waypost/domain';
import { deliveryRecord } from '../testing/delivery-records.js';
import { MOST_SEARCHED, type SearchedPage, searchPage } from './payload-search.js';

const START = Date.UTC(2026, 2, 20);
const FIRST = deliveryRecord({ firstAttemptAt: START });

/** A history in which the deliveries of these indexes match; a token is the index to go on from. */
function historyOf(length: number, matching: readonly number[]) {
  const records = Array.from({ length }, (_, index) => ({
    ...FIRST,
    firstAttemptAt: START + index,
    body: matching.includes(index) ? 'yes' : 'no',
  }));
  let nowMs = START;
  const reads: number[] = [];
  return {
    reads,
    pass(ms: number) {
      nowMs += ms;
    },
    page(limit: number, pageState?: string): Promise<SearchedPage<DeliveryRecord>> {
      return searchPage({
        limit,
        pageState,
        nowMs: () => nowMs,
        matches: ({ body }) => body === 'yes',
        read: ({ limit: most, pageState: from = '0' }) => {
          const end = Number(from) + most;
          reads.push(most);
          nowMs += 10;
          const page = records.slice(Number(from), end);
          const nextPageState = end < length ? String(end) : null;
          // Of the moment of the read.
          return Promise.resolve({ records: page, nextPageState, completeUntil: nowMs });
        },
      });
    },
    async walk(limit: number): Promise<{ found: number[]; sizes: number[] }> {
      const found: number[] = [];
      const sizes: number[] = [];
      for (let token: string | undefined; ;) {
        const page = await this.page(limit, token);
        found.push(...page.records.map(({ firstAttemptAt }) => firstAttemptAt - START));
        sizes.push(page.records.length);
        if (page.nextPageState === null) return { found, sizes };
        token = page.nextPageState;
      }
    },
  };
}

describe('a search of payloads (R-33, R-34)', () => {
  it('shows each delivery that matches once, in pages of at most as many as are asked for', async () => {
    const matching = [0, 1, 2, 998, 999, 1_000, 7_000, 12_344, 12_345];
    for (const limit of [1, 2, 4, 100]) {
      const { found, sizes } = await historyOf(12_346, matching).walk(limit);
      expect(found).toEqual(matching);
      expect(Math.max(...sizes)).toBeLessThanOrEqual(limit);
    }
  });

  it('ends after the most that one page looks at, without a match too, and says how far it is', async () => {
    const history = historyOf(12_000, []);
    const page = await history.page(100);
    expect(page).toMatchObject({ records: [], nextPageState: String(MOST_SEARCHED) });
    expect(page.searchedUntil).toBe(START + MOST_SEARCHED - 1);
    expect((await history.page(100, '10000')).searchedUntil).toBeNull();
  });

  it('ends early on a database that is slow', async () => {
    const history = historyOf(12_000, []);
    const reading = history.page(100);
    history.pass(1_000);
    expect(await reading).toMatchObject({ nextPageState: '1000', searchedUntil: START + 999 });
    expect(history.reads).toHaveLength(1);
  });

  it('is complete until what its first batch was: a delivery that arrives before the last one is in none of them', async () => {
    const history = historyOf(12_000, [2_500]);
    expect(await history.page(100)).toMatchObject({ completeUntil: START + 10, nextPageState: '3000' });
    expect(history.reads).toHaveLength(3);
  });

  it('reads no more than the batch with the first match, whose bytes bound it (R-34a)', async () => {
    const history = historyOf(12_000, [1_500, 2_500]);
    expect((await history.page(100)).records).toHaveLength(1);
    expect(history.reads).toEqual([1_000, 1_000]);
  });
});
