import { useQuery } from '@tanstack/react-query';
import type { Subscription } from '@waypost/client';
import { useClient, useSession } from '../session/session.js';
import { firstOf, type Part } from '../shared/first-of.js';

/** More than anyone chooses from; what is beyond is found by its id. */
const MOST = 1_000;
const NONE: Part<Subscription> = { items: [], hasMore: false };

/** The first subscriptions of the fleet, to name them and to choose among them; without them a page is as useful. */
export function useSubscriptions(): Part<Subscription> {
  const client = useClient();
  const { isOperator, fleetId } = useSession();
  const { data } = useQuery({
    queryKey: ['subscriptions', 'all'],
    queryFn: ({ signal }) => firstOf(client.pages('listSubscriptions', { limit: MOST }, { signal }), { items: MOST }),
    // An operator without a fleet has none.
    enabled: !isOperator || fleetId !== null,
    staleTime: 30_000,
  });
  return data ?? NONE;
}
