import { useInfiniteQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { Link } from 'wouter';
import { useClient, useLack } from '../session/session.js';
import { RowSkeleton } from '../shared/skeleton.js';
import { Empty, Failure } from '../shared/states.js';
import { countText } from '../shared/time-text.js';
import { subscriptionName } from './subscription-name.js';
import { SubscriptionTable } from './subscription-table.js';

const PAGE_ROWS = 200;

/** The subscriptions of the fleet, oldest first. */
export function SubscriptionsPage() {
  const [text, setText] = useState('');
  const { rows, found, isSearching, ...pages } = useFound(text.trim().toLowerCase());
  const { data, error, isPending, hasNextPage, isFetchingNextPage, fetchNextPage, refetch } = pages;
  return (
    <>
      <div className="title">
        <h1>Subscriptions</h1>
        {rows.length > 0 && (
          <>
            <input
              type="search"
              data-search=""
              aria-label="Find a subscription by its event, URL or description"
              placeholder="Event, URL or description"
              value={text}
              onChange={({ target }) => setText(target.value)}
            />
            <NewSubscription>New subscription</NewSubscription>
          </>
        )}
      </div>
      {isPending && <RowSkeleton />}
      {error && <Failure error={error} retry={() => void refetch()} />}
      {data && rows.length === 0 && (
        <Empty title="No subscription yet">
          <p>A subscription sends one type of event to one URL, signed. Create your first, and send it a test event.</p>
          <NewSubscription>Create a subscription</NewSubscription>
        </Empty>
      )}
      {isSearching && (
        <p className="hint" role="status">
          Searched {countText(rows.length)} so far
        </p>
      )}
      {rows.length > 0 && found.length === 0 && !isSearching && !error && (
        <Empty title="No subscription has this in its event, URL or description">
          <button type="button" onClick={() => setText('')}>
            Show all
          </button>
        </Empty>
      )}
      {found.length > 0 && <SubscriptionTable rows={found} />}
      {hasNextPage && !isSearching && (
        <button type="button" disabled={isFetchingNextPage} onClick={() => void fetchNextPage()}>
          Show more
        </button>
      )}
    </>
  );
}

/** What has the words in it. A search has seen all pages when it is through; without words, pages are read when asked for. */
function useFound(words: string) {
  const client = useClient();
  const pages = useInfiniteQuery({
    queryKey: ['subscriptions'],
    initialPageParam: '',
    queryFn: ({ pageParam, signal }) =>
      client.listSubscriptions({ limit: PAGE_ROWS, ...(pageParam !== '' && { pageState: pageParam }) }, { signal }),
    getNextPageParam: ({ nextPageState }) => nextPageState ?? undefined,
  });
  const { data, error, hasNextPage, isFetchingNextPage, fetchNextPage } = pages;
  const isSearching = words !== '' && hasNextPage && !error;
  useEffect(() => {
    if (isSearching && !isFetchingNextPage) void fetchNextPage();
  }, [isSearching, isFetchingNextPage, fetchNextPage]);
  const rows = data?.pages.flatMap((page) => page.data) ?? [];
  const found = rows.filter((one) => `${subscriptionName(one)} ${one.description ?? ''}`.toLowerCase().includes(words));
  return { ...pages, rows, found, isSearching };
}

function NewSubscription({ children }: { readonly children: string }) {
  const lack = useLack('subscriptions:create');
  if (lack !== null) return <span className="hint">{lack}</span>;
  return (
    <Link href="/subscriptions/new" className="button primary">
      {children}
    </Link>
  );
}
