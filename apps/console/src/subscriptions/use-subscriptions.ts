import { useQuery } from '@tanstack/react-query';
import type { Subscription } from '@waypost/client';
import { useClient, useSession } from '../session/session.js';

/** More than most fleets have; what is beyond is found by its id. */
const MOST = 1_000;
const PAGE_ROWS = 200;
const NONE: readonly Subscription[] = [];

/** All subscriptions of the fleet, to name them and to choose among them; without them a page is as useful. */
export function useSubscriptions(): readonly Subscription[] {
  const client = useClient();
  const { isOperator, fleetId } = useSession();
  const { data } = useQuery({
    queryKey: ['subscriptions', 'all'],
    queryFn: async ({ signal }) => {
      const found: Subscription[] = [];
      for await (const page of client.pages('listSubscriptions', { limit: PAGE_ROWS }, { signal })) {
        found.push(...page.data);
        if (found.length >= MOST) break;
      }
      return found;
    },
    // An operator without a fleet has none.
    enabled: !isOperator || fleetId !== null,
    staleTime: 30_000,
  });
  return data ?? NONE;
}
