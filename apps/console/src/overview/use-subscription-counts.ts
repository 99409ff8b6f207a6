import { useQuery } from '@tanstack/react-query';
import { useClient } from '../session/session.js';

const EVERY_MS = 15_000;
/** More than a fleet has; the page of subscriptions has all. */
const COUNTED = 200;

export interface SubscriptionCounts {
  readonly all: number;
  readonly paused: number;
  readonly disabled: number;
  /** Of the oldest; null: there is none. */
  readonly firstId: string | null;
}

/** null: not known so far. */
export function useSubscriptionCounts(): SubscriptionCounts | null {
  const client = useClient();
  const { data } = useQuery({
    queryKey: ['subscription-counts'],
    queryFn: ({ signal }) => client.listSubscriptions({ limit: COUNTED }, { signal }),
    refetchInterval: EVERY_MS,
  });
  if (!data) return null;
  const count = (status: string): number => data.data.filter((one) => one.status === status).length;
  return {
    all: data.data.length,
    paused: count('paused'),
    disabled: count('disabled'),
    firstId: data.data[0]?.id ?? null,
  };
}
