import { useQuery } from '@tanstack/react-query';
import type { Subscription } from '@waypost/client';
import { useClient } from '../session/session.js';

/** More than the event types: each has one subscription at a URL at most. */
const MOST = 100;

/** The event types of the other subscriptions with its URL, read when a dialog opens: there may be others by then. */
export function useSiblings({ id, url }: Pick<Subscription, 'id' | 'url'>) {
  const client = useClient();
  return useQuery({
    queryKey: ['subscription-siblings', id, url],
    queryFn: async ({ signal }) => {
      const { data } = await client.listSubscriptions({ url, limit: MOST }, { signal });
      return data.filter((one) => one.id !== id).map(({ eventType }) => eventType);
    },
    gcTime: 0,
  });
}
