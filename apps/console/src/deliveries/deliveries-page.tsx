import './deliveries.css';
import { useQueryClient } from '@tanstack/react-query';
import { useMemo } from 'react';
import { Link, useLocation, useSearch } from 'wouter';
import { type DeliveryFilters, filtersOf, filtersText, searchOf } from '../filters/delivery-filters.js';
import { FilterChips } from '../filters/filter-chips.js';
import { SavedFilters } from '../filters/saved-filters.js';
import { BulkResend } from '../resends/bulk-resend.js';
import { useOpening } from '../shared/history-entry.js';
import { Segments } from '../shared/segments.js';
import { DeliveryList } from './delivery-list.js';
import { FilterBar } from './filter-bar.js';
import { LiveTail } from './live-tail.js';
import { deliveriesKey } from './use-deliveries.js';

const VIEWS = [
  { value: 'history', title: 'History' },
  { value: 'live', title: 'Live' },
] as const;

type View = (typeof VIEWS)[number]['value'];

/** The deliveries of the fleet to all its endpoints, as a list or as they happen, with the filters in the address. */
export function DeliveriesPage() {
  const search = useSearch();
  const [, navigate] = useLocation();
  const filters = useMemo(() => filtersOf(search), [search]);
  const view: View = new URLSearchParams(search).get('view') === 'live' ? 'live' : 'history';
  const queries = useQueryClient();
  const [openedAtMs, refresh] = useOpening(
    search,
    (openedAtMs) => queries.getQueryData(deliveriesKey(filters, openedAtMs)) !== undefined,
  );
  const filterSearch = searchOf(filters);

  function change(next: DeliveryFilters, nextView: View): void {
    const parts = [searchOf(next), nextView === 'live' ? 'view=live' : ''].filter((part) => part !== '');
    navigate(`/deliveries${parts.length === 0 ? '' : `?${parts.join('&')}`}`, { replace: true });
  }

  return (
    <>
      <div className="title">
        <h1>Deliveries</h1>
        <Segments label="View" options={VIEWS} value={view} onChange={(next) => change(filters, next)} />
        <SavedFilters search={filterSearch} text={filtersText(filters)} />
        <Link href="/deliveries/resends" className="button">
          Past resends
        </Link>
        <BulkResend filters={filters} openedAtMs={openedAtMs} />
      </div>
      <FilterBar filters={filters} isLive={view === 'live'} onChange={(next) => change(next, view)} />
      <FilterChips filters={filters} isLive={view === 'live'} onChange={(next) => change(next, view)} />
      {view === 'live' ? (
        <LiveTail key={filterSearch} filters={filters} />
      ) : (
        <DeliveryList {...{ filters, openedAtMs, refresh }} clear={() => change(filtersOf(''), view)} />
      )}
    </>
  );
}
