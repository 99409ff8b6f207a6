import type { ShownDelivery } from '@waypost/domain';
import type { DeliveryPage } from './delivery-page.js';

/** What a filter that has no index looks at before it answers, found or not: a page costs no more, however rare the value is. */
export const MOST_SEARCHED = 5_000;
const MAX_SEARCH_MS = 1_000;
const BATCH = 1_000;

export interface PayloadSearch<Shown> {
  readonly read: (page: { limit: number; pageState: string | undefined }) => Promise<DeliveryPage<Shown>>;
  readonly matches: (record: Shown) => boolean;
  readonly limit: number;
  readonly pageState: string | undefined;
  readonly nowMs: () => number;
}

export interface SearchedPage<Shown> extends DeliveryPage<Shown> {
  /** The first attempt of the last delivery that was looked at; null: all of them were. */
  readonly searchedUntil: number | null;
}

/**
 * A page of the deliveries that match, which are looked for batch by batch. It ends with the first batch that has one, so that
 * it is no larger than any page (R-34a), and its token continues after the last delivery that was looked at.
 */
export async function searchPage<Shown extends ShownDelivery>(
  search: PayloadSearch<Shown>,
): Promise<SearchedPage<Shown>> {
  const { read, matches, limit, nowMs } = search;
  const lastAt = nowMs() + MAX_SEARCH_MS;
  let { pageState } = search;
  let batch = BATCH;
  let first: DeliveryPage<Shown> | undefined;
  for (let searched = 0; ;) {
    const page = await read({ limit: batch, pageState });
    first ??= page;
    const found = page.records.filter(matches);
    const lastShown = found[limit - 1];
    if (found.length > limit && lastShown !== undefined) {
      // Once more, up to the last one that the page has room for: a token continues after a batch only.
      batch = page.records.indexOf(lastShown) + 1;
      continue;
    }
    searched += page.records.length;
    const { nextPageState } = page;
    if (found.length > 0 || nextPageState === null || searched >= MOST_SEARCHED || nowMs() >= lastAt) {
      const last = nextPageState === null ? undefined : page.records.at(-1);
      return {
        records: found,
        nextPageState,
        // What a later batch knows as complete may have come after an earlier one was read.
        completeUntil: first.completeUntil,
        searchedUntil: last ? (last.firstAttemptAt ?? last.createdAt) : null,
      };
    }
    pageState = nextPageState;
  }
}
