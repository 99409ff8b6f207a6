import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import type { Subscription } from '@waypost/client';
import { useClient } from '../session/session.js';
import { Moment } from '../shared/moment.js';
import { Empty, Failure, Loading } from '../shared/states.js';
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
  if (isPending) return <Loading what="subscriptions" />;
  if (error) return <Failure error={error} retry={() => void refetch()} />;
  const rows = data.pages.flatMap((page) => page.data);
  return (
    <>
      <div className="title">
        <h1>Subscriptions</h1>
        <Link href="/subscriptions/new" className="button primary">
          New subscription
        </Link>
      </div>
      {rows.length === 0 && (
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

function SubscriptionTable({ rows }: { readonly rows: readonly Subscription[] }) {
  return (
    <div className="scrolls">
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
          {rows.map(({ id, eventType, url, status, updatedAt }) => (
            <tr key={id}>
              <td>
                <Link href={`/subscriptions/${id}`}>{eventType}</Link>
              </td>
              <td className="text">{url}</td>
              <td>
                <StatusBadge status={status} />
              </td>
              <td>
                <Moment iso={updatedAt} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
