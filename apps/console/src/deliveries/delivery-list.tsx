import { useInfiniteQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { Link } from 'wouter';
import type { Subscription, V2Event } from '@waypost/client';
import { type DeliveryFilters, ORDERS, queryOf, searchOf } from '../filters/delivery-filters.js';
import { useClient } from '../session/session.js';
import { Moment } from '../shared/moment.js';
import { RowSkeleton } from '../shared/skeleton.js';
import { Empty, Failure } from '../shared/states.js';
import { StatusBadge } from '../shared/status-badge.js';
import { countText, zoneText } from '../shared/time-text.js';
import { VirtualRows } from '../shared/virtual-rows.js';
import { useSubscriptions } from '../subscriptions/use-subscriptions.js';

const PAGE_ROWS = 100;
const KEPT_MS = 30 * 60_000;
const TITLES = ['First attempt', 'Status', 'Event', 'Device', 'Endpoint', 'Code', 'Attempts', 'Next'];

interface DeliveryListProps {
  readonly filters: DeliveryFilters;
  readonly openedAtMs: number;
  readonly refresh: () => void;
}

/** The deliveries that there were when the list was opened: while one reads, no row moves. */
export function DeliveryList({ filters, openedAtMs, refresh }: DeliveryListProps) {
  const deliveries = useDeliveries(filters, openedAtMs);
  const { data, error, isPending, hasNextPage, isFetchingNextPage, fetchNextPage, refetch } = deliveries;
  const rows = useMemo(() => data?.pages.flatMap((page) => page.data) ?? [], [data]);
  const endpoints = useEndpoints();
  const more = useMemo(
    () => (hasNextPage && !isFetchingNextPage && !error ? { load: () => void fetchNextPage() } : undefined),
    [hasNextPage, isFetchingNextPage, error, fetchNextPage],
  );
  const retry = () => void (rows.length > 0 ? fetchNextPage() : refetch());
  return (
    <>
      <div className="list-line">
        <span className="hint" role="status">
          {isPending ? 'Loading' : `${countText(rows.length)} ${rows.length === 1 ? 'delivery' : 'deliveries'}`}
          {hasNextPage && ', more below'}
          {`. ${ORDERS[filters.order]}. Times in ${zoneText()}.`}
        </span>
        <button type="button" onClick={refresh} disabled={deliveries.isFetching} data-key="r" aria-keyshortcuts="r">
          Refresh
        </button>
      </div>
      {isPending && <RowSkeleton />}
      {!isPending && !error && rows.length === 0 && <NoDeliveries isFiltered={searchOf(filters) !== ''} />}
      {rows.length > 0 && (
        <VirtualRows
          label="Deliveries"
          className="deliveries"
          titles={TITLES}
          rows={rows}
          keyOf={keyOf}
          cells={(row) => <Cells row={row} endpoint={endpoints.get(row.subscriptionId)} />}
          {...(hasNextPage && { more: more ?? NOTHING_TO_LOAD })}
        />
      )}
      {error && <Failure error={error} retry={retry} />}
    </>
  );
}

const NOTHING_TO_LOAD = { load: () => undefined };

function useEndpoints(): ReadonlyMap<string, Subscription> {
  const subscriptions = useSubscriptions();
  return useMemo(() => new Map(subscriptions.map((one) => [one.id, one])), [subscriptions]);
}

function Cells({ row, endpoint }: { readonly row: V2Event; readonly endpoint: Subscription | undefined }) {
  const { eventId, eventType, deviceId, subscriptionId, delivery } = row;
  const url = endpoint?.url.replace(/^https?:\/\//, '') ?? subscriptionId;
  return (
    <>
      <span role="cell">
        <Link href={`/deliveries/${eventId}`} className="covers">
          {delivery.firstAttemptAt === undefined ? 'Not yet' : <Moment iso={delivery.firstAttemptAt} />}
        </Link>
      </span>
      <span role="cell">
        <StatusBadge status={delivery.status} />
      </span>
      <span role="cell">
        {eventType}
        {delivery.series > 0 && <span className="hint"> replayed</span>}
      </span>
      <span role="cell" className="text" title={deviceId}>
        {deviceId}
      </span>
      <span role="cell" className="text hint" title={url}>
        {url}
      </span>
      <span role="cell">{delivery.statusCode ?? '–'}</span>
      <span role="cell">{delivery.attemptCount}</span>
      <span role="cell">{delivery.nextAttemptAt === undefined ? '' : <Moment iso={delivery.nextAttemptAt} />}</span>
    </>
  );
}

function NoDeliveries({ isFiltered }: { readonly isFiltered: boolean }) {
  if (isFiltered)
    return (
      <Empty title="No delivery matches these filters">
        <p>
          Take a longer range, or remove a filter. What can be searched for: a device, an event id, a code, a type, a
          subscription and a status; not what is in a payload.
        </p>
      </Empty>
    );
  return (
    <Empty title="Nothing has been delivered in this range">
      <p>
        A <Link href="/subscriptions/new">subscription</Link> says which events go where; pings make the events. The
        simulator publishes some: <code>npm run waypost -- publish --help</code>
      </p>
    </Empty>
  );
}

/** Pages follow each other by key, in a window that is fixed when the list is opened: the token of a page belongs to one query. */
function useDeliveries(filters: DeliveryFilters, openedAtMs: number) {
  const client = useClient();
  return useInfiniteQuery({
    queryKey: ['deliveries', searchOf(filters), openedAtMs],
    initialPageParam: '',
    queryFn: ({ pageParam: pageState, signal }) => {
      const query = { ...queryOf(filters, openedAtMs), limit: PAGE_ROWS };
      return client.listEvents({ ...query, ...(pageState !== '' && { pageState }) }, { signal });
    },
    getNextPageParam: ({ nextPageState }) => nextPageState ?? undefined,
    // Rows stay as they were read until somebody asks for newer ones, also after "back".
    staleTime: Infinity,
    gcTime: KEPT_MS,
  });
}

function keyOf({ eventId, subscriptionId, delivery }: V2Event): string {
  return `${eventId} ${subscriptionId} ${String(delivery.series)}`;
}
