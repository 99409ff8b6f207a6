import { useCallback, useMemo } from 'react';
import { Link } from 'wouter';
import type { Subscription } from '@waypost/client';
import { type DeliveryFilters, following, ORDERS, searchOf } from '../filters/delivery-filters.js';
import { ShellHint } from '../session/shell-hint.js';
import { Moment } from '../shared/moment.js';
import { RowSkeleton } from '../shared/skeleton.js';
import { Empty, Failure } from '../shared/states.js';
import { StatusBadge } from '../shared/status-badge.js';
import { StatusCode } from '../shared/status-code.js';
import { countText, zoneText } from '../shared/time-text.js';
import { VirtualRows } from '../shared/virtual-rows.js';
import { useSubscriptions } from '../subscriptions/use-subscriptions.js';
import type { ListedDelivery } from './listed-delivery.js';
import { useDeliveries } from './use-deliveries.js';
import { useNewer } from './use-newer.js';

const TITLES = ['First attempt', 'Status', 'Event', 'Device', 'Endpoint', 'Code', 'Attempts', 'Next attempt'];

interface DeliveryListProps {
  readonly filters: DeliveryFilters;
  readonly openedAtMs: number;
  readonly refresh: () => void;
  /** Takes all filters away. */
  readonly clear: () => void;
}

/** The deliveries that there were when the list was opened: while one reads, no row moves. */
export function DeliveryList({ filters, openedAtMs, refresh, clear }: DeliveryListProps) {
  const { rows, more, isFull, search, retry, ...pages } = useDeliveries(filters, openedAtMs);
  const { error, isPending, hasNextPage, isFetching } = pages;
  const openedAt = new Date(openedAtMs).toISOString();
  const newer = useNewer(filters, isPending || error !== null ? null : (rows[0]?.delivery.firstAttemptAt ?? openedAt));
  const endpoints = useEndpoints();
  const cells = useCallback(
    (row: ListedDelivery) => <Cells row={row} endpoint={endpoints.get(row.subscriptionId)} />,
    [endpoints],
  );
  const isSearching = search?.isStopped === false;
  return (
    <>
      <div className="list-line">
        <span className="hint" role="status">
          {isPending ? 'Loading' : `${countText(rows.length)} ${rows.length === 1 ? 'delivery' : 'deliveries'}`}
          {search ? <Searched until={search.until} order={filters.order} /> : hasNextPage && ', more below'}
          {isFull && ', and there are more'}
          {`. ${ORDERS[filters.order]}. Times in ${zoneText()}.`}
        </span>
        {search && (
          <button type="button" onClick={search.toggle}>
            {search.isStopped ? 'Search further' : 'Stop the search'}
          </button>
        )}
        <button
          type="button"
          className={newer === null ? '' : 'primary'}
          onClick={refresh}
          disabled={isFetching}
          data-key="r"
          aria-keyshortcuts="r"
        >
          {newer === null ? 'Refresh' : `Refresh: ${newer} newer`}
        </button>
      </div>
      {(isPending || (isSearching && rows.length === 0 && !error)) && <RowSkeleton />}
      {!isPending && !error && !isSearching && rows.length === 0 && (
        <NoDeliveries isFiltered={searchOf(filters) !== ''} isStopped={search !== null} clear={clear} />
      )}
      {rows.length > 0 && (
        <VirtualRows
          label="Deliveries"
          className="deliveries"
          titles={TITLES}
          rows={rows}
          keyOf={keyOf}
          cells={cells}
          {...(hasNextPage && { more: more ?? NOTHING_TO_LOAD })}
        />
      )}
      {isFull && <Others filters={filters} openedAtMs={openedAtMs} lastAt={rows.at(-1)?.delivery.firstAttemptAt} />}
      {error && <Failure error={error} retry={retry} />}
    </>
  );
}

interface OthersProps extends Pick<DeliveryListProps, 'filters' | 'openedAtMs'> {
  /** Of the last row; undefined: it waits for its first attempt. */
  readonly lastAt: string | undefined;
}

/** What a list of this length does not get to. */
function Others({ filters, openedAtMs, lastAt }: OthersProps) {
  return (
    <p className="hint">
      End of this list.{' '}
      {lastAt === undefined ? (
        'Use filters to find other deliveries.'
      ) : (
        <Link href={`/deliveries?${searchOf(following(filters, lastAt, openedAtMs))}`}>
          Go on with the {filters.order === 'desc' ? 'older' : 'newer'} ones
        </Link>
      )}
    </p>
  );
}

function Searched({ until, order }: { readonly until: string; readonly order: DeliveryFilters['order'] }) {
  return (
    <>
      {order === 'desc' ? ' found, searched back to ' : ' found, searched up to '}
      <Moment iso={until} />
    </>
  );
}

const NOTHING_TO_LOAD = { load: () => undefined };

function useEndpoints(): ReadonlyMap<string, Subscription> {
  const { items: subscriptions } = useSubscriptions();
  return useMemo(() => new Map(subscriptions.map((one) => [one.id, one])), [subscriptions]);
}

function Cells({ row, endpoint }: { readonly row: ListedDelivery; readonly endpoint: Subscription | undefined }) {
  const { eventId, eventType, deviceId, subscriptionId, delivery } = row;
  const url = endpoint?.url.replace(/^https?:\/\//, '') ?? subscriptionId;
  return (
    <>
      <span role="cell">
        <Link href={`/deliveries/${eventId}`} className="covers">
          {delivery.firstAttemptAt === undefined ? 'Not yet' : <Moment iso={delivery.firstAttemptAt} isExact />}
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
      <span role="cell">
        <StatusCode code={delivery.statusCode} error={delivery.lastError} />
      </span>
      <span role="cell">{delivery.attemptCount}</span>
      <span role="cell">{delivery.nextAttemptAt === undefined ? '' : <Moment iso={delivery.nextAttemptAt} />}</span>
    </>
  );
}

interface NoDeliveriesProps extends Pick<DeliveryListProps, 'clear'> {
  readonly isFiltered: boolean;
  /** Someone stopped it before it was through. */
  readonly isStopped: boolean;
}

function NoDeliveries({ isFiltered, isStopped, clear }: NoDeliveriesProps) {
  if (isStopped) return <Empty title="Nothing found so far" />;
  if (isFiltered)
    return (
      <Empty title="No delivery matches these filters">
        <p>
          Choose a longer range, or remove a filter. Write a payload field as in the body, such as{' '}
          <code>driverId:driver-46</code>.
        </p>
        <button type="button" onClick={clear}>
          Clear the filters
        </button>
      </Empty>
    );
  return (
    <Empty title="Nothing has been delivered in this range">
      <p>Choose a longer range, or send a test event from the page of a subscription.</p>
      <ShellHint>
        <p>
          Pings make the other events. The simulator publishes some: <code>npm run waypost -- publish --help</code>
        </p>
      </ShellHint>
      <Link href="/subscriptions" className="button">
        Go to the subscriptions
      </Link>
    </Empty>
  );
}

function keyOf({ eventId, subscriptionId, delivery }: ListedDelivery): string {
  return `${eventId} ${subscriptionId} ${String(delivery.series)}`;
}
