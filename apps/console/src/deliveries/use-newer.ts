import { useQuery } from '@tanstack/react-query';
import { type DeliveryFilters, queryOf, searchOf } from '../filters/delivery-filters.js';
import { useClient } from '../session/session.js';
import { nowMs } from '../shared/clock.js';

const EVERY_MS = 10_000;
const COUNTED = 50;

/** How many deliveries there are after the newest row of a list, which does not move by itself: `7` or `50+`; null: none. */
export function useNewer(filters: DeliveryFilters, newestAt: string | null): string | null {
  const client = useClient();
  // A list with an end, in the other order, or of a search gets nothing on top.
  const isOpen = filters.to === '' && filters.order === 'desc' && filters.payload === '';
  const { data } = useQuery({
    queryKey: ['newer', searchOf(filters), newestAt],
    queryFn: ({ signal }) => {
      // Times have milliseconds, and the window has its beginning.
      const startDate = new Date(Date.parse(newestAt ?? '') + 1).toISOString();
      return client.listEvents({ ...queryOf(filters, nowMs()), startDate, limit: COUNTED }, { signal });
    },
    enabled: isOpen && newestAt !== null,
    refetchInterval: EVERY_MS,
    // What was read with the list is not asked for at once.
    initialData: NOTHING,
    initialDataUpdatedAt: nowMs,
    staleTime: EVERY_MS,
  });
  if (data.data.length === 0) return null;
  return data.nextPageState === null ? String(data.data.length) : `${String(COUNTED)}+`;
}

const NOTHING = { data: [], nextPageState: null, searchedUntil: null, completeUntil: null };
