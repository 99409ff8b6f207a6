import { useQuery } from '@tanstack/react-query';
import type { Subscription, WaypostClient } from '@waypost/client';
import type { DeliveryFilters } from '../filters/delivery-filters.js';
import { useClient } from '../session/session.js';
import { firstOf, type Part } from '../shared/first-of.js';
import { type Candidates, concerned, MOST_CANDIDATES } from './resend-batch.js';

/** Read for each opening of the dialog: what was read for the one before may have changed. */
export const NEVER_CACHED = { staleTime: 0, gcTime: 0 } as const;

/** Every subscription that the filters may mean, read when it is asked for: a resend must not leave one out silently. */
export function useCandidates(filters: DeliveryFilters): Candidates {
  const client = useClient();
  const { subscriptionId } = filters;
  const { data, error, isFetching } = useQuery({
    queryKey: ['resend-candidates', subscriptionId],
    queryFn: ({ signal }) => readCandidates(client, subscriptionId, signal),
    ...NEVER_CACHED,
  });
  if (isFetching) return { state: 'loading', subscriptions: [] };
  if (error || !data) return { state: 'failed', subscriptions: [] };
  return { state: data.hasMore ? 'incomplete' : 'complete', subscriptions: concerned(filters, data.items) };
}

async function readCandidates(client: WaypostClient, id: string, signal: AbortSignal): Promise<Part<Subscription>> {
  if (id !== '') return { items: [await client.getSubscription({ id }, { signal })], hasMore: false };
  return firstOf(client.pages('listSubscriptions', { limit: MOST_CANDIDATES }, { signal }), { items: MOST_CANDIDATES });
}
