import { useQuery } from '@tanstack/react-query';
import { useClient } from '../session/session.js';
import { firstOf } from '../shared/first-of.js';

/** Each look reads up to three thousand subscriptions. */
const EVERY_MS = 60_000;
/** The most that are counted of each status; a fleet with more has another problem than their number. */
const MAX_COUNTED = 1_000;

export interface SubscriptionCounts {
  readonly paused: number;
  readonly disabled: number;
  /** Active, and held because their endpoint fails. */
  readonly suspended: number;
  /** There are more paused or disabled ones than were counted. */
  readonly hasMore: boolean;
  /** More active ones than were looked at, of which some may be suspended. */
  readonly hasMoreActive: boolean;
  /** The id of the oldest; null: there is none. */
  readonly firstId: string | null;
}

export function useSubscriptionCounts() {
  const client = useClient();
  return useQuery({
    queryKey: ['subscription-counts'],
    queryFn: async ({ signal }): Promise<SubscriptionCounts> => {
      const of = (status: 'paused' | 'disabled' | 'active') =>
        firstOf(client.pages('listSubscriptions', { status, limit: MAX_COUNTED }, { signal }), { items: MAX_COUNTED });
      const [paused, disabled, active, oldest] = await Promise.all([
        of('paused'),
        of('disabled'),
        of('active'),
        client.listSubscriptions({ limit: 1 }, { signal }),
      ]);
      return {
        paused: paused.items.length,
        disabled: disabled.items.length,
        suspended: active.items.filter(({ suspended }) => suspended).length,
        hasMore: paused.hasMore || disabled.hasMore,
        hasMoreActive: active.hasMore,
        firstId: oldest.data[0]?.id ?? null,
      };
    },
    refetchInterval: EVERY_MS,
  });
}
