import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import type { Subscription } from '@waypost/client';
import { useClient, useLack } from '../session/session.js';
import { Moment } from '../shared/moment.js';
import { RowSkeleton } from '../shared/skeleton.js';
import { Empty, Failure } from '../shared/states.js';
import { StatusBadge } from '../shared/status-badge.js';

const PAGE_ROWS = 200;

/** The subscriptions of the fleet, oldest first. */
export function SubscriptionsPage() {
  const client = useClient();
  const { data, error, isPending, hasNextPage, isFetchingNextPage, fetchNextPage, refetch } = useInfiniteQuery({
    queryKey: ['subscriptions'],
    initialPageParam: '',
    queryFn: ({ pageParam, signal }) =>
      client.listSubscriptions({ limit: PAGE_ROWS, ...(pageParam !== '' && { pageState: pageParam }) }, { signal }),
    getNextPageParam: ({ nextPageState }) => nextPageState ?? undefined,
  });
  const rows = data?.pages.flatMap((page) => page.data) ?? [];
  return (
    <>
      <div className="title">
        <h1>Subscriptions</h1>
        <NewSubscription />
      </div>
      {isPending && <RowSkeleton />}
      {error && <Failure error={error} retry={() => void refetch()} />}
      {data && rows.length === 0 && (
        <Empty title="No subscription yet">
          <p>A subscription sends one type of event to one URL, signed. Make the first, and send it a test event.</p>
        </Empty>
      )}
      {rows.length > 0 && <SubscriptionTable rows={rows} />}
      {hasNextPage && (
        <button type="button" disabled={isFetchingNextPage} onClick={() => void fetchNextPage()}>
          Show more
        </button>
      )}
    </>
  );
}

function NewSubscription() {
  const lack = useLack('subscriptions:write');
  if (lack !== null) return <span className="hint">{lack}</span>;
  return (
    <Link href="/subscriptions/new" className="button primary">
      New subscription
    </Link>
  );
}

function SubscriptionTable({ rows }: { readonly rows: readonly Subscription[] }) {
  return (
    <div className="table scrolls stacked" role="region" aria-label="Subscriptions" tabIndex={0}>
      <table>
        <thead>
          <tr>
            <th scope="col">Event</th>
            <th scope="col">URL</th>
            <th scope="col">Status</th>
            <th scope="col">Changed</th>
          </tr>
        </thead>
        <tbody>
          {rows.map(({ id, eventType, url, description, status, disabledReason, updatedAt }) => (
            <tr key={id} data-row="">
              <td>
                <Link href={`/subscriptions/${id}`}>{eventType}</Link>
              </td>
              <td className="text">
                {url}
                {description !== undefined && <span className="hint below">{description}</span>}
              </td>
              <td>
                <StatusBadge status={status} />
                {disabledReason !== undefined && <span className="problem below">{disabledReason}</span>}
              </td>
              <td className="minor">
                <Moment iso={updatedAt} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
