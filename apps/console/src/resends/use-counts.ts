import { useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import type { Output, Subscription, WaypostClient } from '@waypost/client';
import { type DeliveryFilters, windowOf } from '../filters/delivery-filters.js';
import { useClient } from '../session/session.js';
import { nowMs } from '../shared/clock.js';
import type { Candidates } from './resend-batch.js';
import { NEVER_CACHED } from './use-candidates.js';

/** By the id of the subscription. */
export type Counts = ReadonlyMap<string, Output<'countResendable'>>;

/** Each is a request, which holds a connection of the history: others read it as well. */
const MAX_COUNTED_SUBSCRIPTIONS = 100;
const AT_ONCE = 2;
/** Nothing that is sent depends on the count: one does not have to wait for it. */
const AWAITED_MS = 3_000;

/**
 * What a resend would send, of each subscription. `unknown`: it could not be counted, there are too many subscriptions, or it
 * is not counted yet and takes long.
 */
export function useCounts(
  filters: DeliveryFilters,
  openedAtMs: number,
  { state, subscriptions }: Candidates,
): Counts | 'counting' | 'unknown' {
  const client = useClient();
  const isCounted = state === 'complete' && subscriptions.length <= MAX_COUNTED_SUBSCRIPTIONS;
  const { data, isFetching } = useQuery({
    queryKey: ['resend-counts', filters, openedAtMs, subscriptions.map(({ id }) => id)],
    queryFn: ({ signal }) => readCounts(client, filters, { openedAtMs, subscriptions, signal }),
    enabled: isCounted,
    ...NEVER_CACHED,
  });
  const takesLong = useTakesLong(isFetching);
  if (state === 'loading') return 'counting';
  if (isFetching) return takesLong ? 'unknown' : 'counting';
  return isCounted ? (data ?? 'unknown') : 'unknown';
}

function useTakesLong(isFetching: boolean): boolean {
  const [takesLong, setTakesLong] = useState(false);
  useEffect(() => {
    if (!isFetching) return undefined;
    const timer = setTimeout(() => setTakesLong(true), AWAITED_MS);
    return () => clearTimeout(timer);
  }, [isFetching]);
  return takesLong;
}

interface Asked {
  readonly openedAtMs: number;
  readonly subscriptions: readonly Subscription[];
  readonly signal: AbortSignal;
}

async function readCounts(
  client: WaypostClient,
  filters: DeliveryFilters,
  { openedAtMs, subscriptions, signal }: Asked,
): Promise<Counts> {
  const { from: startDate, to } = windowOf(filters, openedAtMs);
  const { status, statusCode, deviceId } = filters;
  const query = {
    startDate,
    endDate: to ?? new Date(nowMs()).toISOString(),
    ...(status !== '' && { status }),
    ...(statusCode !== '' && { statusCode: Number(statusCode) }),
    ...(deviceId !== '' && { deviceId }),
  };
  const counts = new Map<string, Output<'countResendable'>>();
  for (let at = 0; at < subscriptions.length; at += AT_ONCE) {
    const some = subscriptions.slice(at, at + AT_ONCE);
    const counted = await Promise.all(some.map(({ id }) => client.countResendable({ id, ...query }, { signal })));
    counted.forEach((one, index) => counts.set(some[index]?.id ?? '', one));
  }
  return counts;
}
