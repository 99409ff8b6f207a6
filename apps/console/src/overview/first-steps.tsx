import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import { useClient, useLack } from '../session/session.js';
import { useSubscriptionCounts } from './use-subscription-counts.js';

const EVERY_MS = 5_000;

/** Shown until something was delivered: before that, figures say nothing. */
export function FirstSteps() {
  const counts = useSubscriptionCounts();
  const hasDelivered = useHasDelivered();
  const lack = useLack(counts?.firstId === null ? 'subscriptions:create' : 'subscriptions:write');
  if (counts === null || hasDelivered !== false || lack !== null) return null;
  const isSubscribed = counts.firstId !== null;
  return (
    <section className="card first-steps" aria-labelledby="first-steps-title">
      <h2 id="first-steps-title">Receive your first webhook</h2>
      <ol>
        <li className={isSubscribed ? 'done' : ''}>
          Create a subscription: your URL, and the events that it gets.{isSubscribed && ' Done.'}
        </li>
        <li className={isSubscribed ? 'done' : ''}>
          Keep its signing secret, and verify requests with the code beside it.
        </li>
        <li>Send a test event, and see here what your endpoint answered.</li>
      </ol>
      {counts.firstId === null ? (
        <Link href="/subscriptions/new" className="button primary">
          Create a subscription
        </Link>
      ) : (
        <Link href={`/subscriptions/${counts.firstId}`} className="button primary">
          Send a test event
        </Link>
      )}
    </section>
  );
}

/** null: not known so far. Once something was, it stays so. */
function useHasDelivered(): boolean | null {
  const client = useClient();
  const { data } = useQuery({
    queryKey: ['has-delivered'],
    queryFn: async ({ signal }) =>
      (await client.listEvents({ status: 'delivered', limit: 1 }, { signal })).data.length > 0,
    refetchInterval: ({ state }) => (state.data === true ? false : EVERY_MS),
  });
  return data ?? null;
}
