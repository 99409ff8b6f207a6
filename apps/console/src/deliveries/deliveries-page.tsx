import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { useLocation, useSearch } from 'wouter';
import type { V2Event } from '@waypost/client';
import { useClient } from '../session/session.js';
import { nowMs } from '../shared/clock.js';
import { Empty, Failure, Loading } from '../shared/states.js';
import { type DeliveryFilters, filtersOf, queryOf, searchOf } from './delivery-filters.js';
import { DeliveryTable } from './delivery-table.js';
import { FilterBar } from './filter-bar.js';

const PAGE_ROWS = 100;
const LIVE_EVERY_MS = 2_000;

/** All deliveries of the fleet, newest first, with the filters in the address. */
export function DeliveriesPage() {
  const search = useSearch();
  const [, navigate] = useLocation();
  const filters = useMemo(() => filtersOf(search), [search]);
  const queries = useQueryClient();
  const [isLive, setIsLive] = useState(false);
  const deliveries = useDeliveries(filters, isLive);
  const isFurtherDown = (deliveries.data?.pages.length ?? 0) > 1;
  const rows = useMemo(() => deliveries.data?.pages.flatMap(({ data }) => data) ?? [], [deliveries.data]);

  function change(next: DeliveryFilters): void {
    const text = searchOf(next);
    navigate(text === '' ? '/deliveries' : `/deliveries?${text}`, { replace: true });
  }

  return (
    <>
      <div className="title">
        <h1>Deliveries</h1>
        {isLive && isFurtherDown && <span className="hint">Live again after a refresh</span>}
        <label className="switch">
          <input type="checkbox" checked={isLive} onChange={(event) => setIsLive(event.target.checked)} />
          Live
        </label>
        <button
          type="button"
          onClick={() => void queries.resetQueries({ queryKey: ['deliveries', filters] })}
          disabled={deliveries.isFetching}
        >
          Refresh
        </button>
      </div>
      <FilterBar filters={filters} onChange={change} />
      <Rows rows={rows} deliveries={deliveries} isFiltered={search !== ''} />
    </>
  );
}

type Deliveries = ReturnType<typeof useDeliveries>;

interface RowsProps {
  readonly rows: readonly V2Event[];
  readonly deliveries: Deliveries;
  readonly isFiltered: boolean;
}

function Rows({ rows, deliveries, isFiltered }: RowsProps) {
  const { error, isPending, hasNextPage, isFetchingNextPage, fetchNextPage, refetch } = deliveries;
  if (isPending) return <Loading what="deliveries" />;
  if (error && rows.length === 0) return <Failure error={error} retry={() => void refetch()} />;
  if (rows.length === 0) return <NoDeliveries isFiltered={isFiltered} />;
  return (
    <>
      {error && <Failure error={error} retry={() => void refetch()} />}
      <DeliveryTable
        rows={rows}
        hasMore={hasNextPage}
        loadMore={() => {
          if (!isFetchingNextPage) void fetchNextPage();
        }}
      />
    </>
  );
}

function NoDeliveries({ isFiltered }: { readonly isFiltered: boolean }) {
  if (isFiltered)
    return (
      <Empty title="No delivery matches these filters">
        <p>Take a longer range, or remove a filter.</p>
      </Empty>
    );
  return (
    <Empty title="Nothing has been delivered in this range">
      <p>
        A subscription says which events go where; pings make the events. The simulator publishes some:{' '}
        <code>npm run waypost -- publish --help</code>
      </p>
    </Empty>
  );
}

/** The start of the range is fixed when the list begins: the token of a page belongs to one query. */
function useDeliveries(filters: DeliveryFilters, isLive: boolean) {
  const client = useClient();
  return useInfiniteQuery({
    queryKey: ['deliveries', filters],
    initialPageParam: { query: null as ReturnType<typeof queryOf> | null, pageState: '' },
    queryFn: async ({ pageParam, signal }) => {
      const query = pageParam.query ?? queryOf(filters, nowMs());
      const { pageState } = pageParam;
      const input = { ...query, limit: PAGE_ROWS, ...(pageState !== '' && { pageState }) };
      return { query, ...(await client.listEvents(input, { signal })) };
    },
    getNextPageParam: ({ query, nextPageState }) =>
      nextPageState === null ? undefined : { query, pageState: nextPageState },
    // Only while the newest page is all there is: rows must not move under somebody who reads further down.
    refetchInterval: ({ state }) => (isLive && (state.data?.pages.length ?? 0) <= 1 ? LIVE_EVERY_MS : false),
  });
}
