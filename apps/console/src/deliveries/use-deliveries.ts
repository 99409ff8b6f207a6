import { useInfiniteQuery } from '@tanstack/react-query';
import { useEffect, useMemo, useState } from 'react';
import { type DeliveryFilters, queryOf, searchOf } from '../filters/delivery-filters.js';
import { useClient } from '../session/session.js';
import { listed, type ListedDelivery } from './listed-delivery.js';

const PAGE_ROWS = 100;
/** More than anyone scrolls through. With ten times as many, the list would be higher than browsers can draw. */
const MAX_ROWS = 50_000;
const KEPT_MS = 30 * 60_000;

export function deliveriesKey(filters: DeliveryFilters, openedAtMs: number): readonly unknown[] {
  return ['deliveries', searchOf(filters), openedAtMs];
}

/** Pages follow each other by key, in a window that is fixed when the list is opened: the token of a page belongs to one query. */
function useDeliveryPages(filters: DeliveryFilters, openedAtMs: number) {
  const client = useClient();
  return useInfiniteQuery({
    queryKey: deliveriesKey(filters, openedAtMs),
    initialPageParam: '',
    queryFn: async ({ pageParam: pageState, signal }) => {
      const query = { ...queryOf(filters, openedAtMs), limit: PAGE_ROWS };
      const page = await client.listEvents({ ...query, ...(pageState !== '' && { pageState }) }, { signal });
      return { ...page, data: page.data.map(listed) };
    },
    getNextPageParam: ({ nextPageState }, pages) =>
      rowsOf(pages).length < MAX_ROWS ? (nextPageState ?? undefined) : undefined,
    // Rows stay as they were read until the reader asks for newer ones, also after "back".
    staleTime: Infinity,
    gcTime: KEPT_MS,
  });
}

function rowsOf(pages: readonly { readonly data: readonly ListedDelivery[] }[] = []): readonly ListedDelivery[] {
  return pages.flatMap(({ data }) => data);
}

/** A search of payloads reads a bounded part per page, found or not. */
interface Search {
  /** The first attempt of the last delivery that was looked at. */
  readonly until: string;
  readonly isStopped: boolean;
  /** Stops it, or continues. */
  readonly toggle: () => void;
}

/** The rows of the list, and how to get more of them: null where there are none, or none for now. */
export function useDeliveries(filters: DeliveryFilters, openedAtMs: number) {
  const pages = useDeliveryPages(filters, openedAtMs);
  const { data, error, hasNextPage, isFetchingNextPage, fetchNextPage, refetch } = pages;
  const address = searchOf(filters);
  const [stopped, setStopped] = useState('');
  const isStopped = stopped !== '' && stopped === address;
  const rows = useMemo(() => rowsOf(data?.pages), [data]);
  const canLoad = hasNextPage && !isFetchingNextPage && !error && !isStopped;
  const more = useMemo(() => (canLoad ? { load: () => void fetchNextPage() } : null), [canLoad, fetchNextPage]);
  const until = data?.pages.at(-1)?.searchedUntil ?? null;
  const search: Search | null =
    until === null ? null : { until, isStopped, toggle: () => setStopped(isStopped ? '' : address) };

  // Without a row there is none to scroll to for more.
  const isEmpty = rows.length === 0;
  useEffect(() => {
    if (isEmpty) more?.load();
  }, [isEmpty, more]);

  // A search continues where it was, also when it has found nothing so far.
  const retry = () => void (data ? fetchNextPage() : refetch());
  // There are others, which this list does not get to.
  const isFull = !hasNextPage && (data?.pages.at(-1)?.nextPageState ?? null) !== null;
  return { ...pages, rows, more, isFull, search, retry };
}
