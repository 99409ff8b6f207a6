import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import { useClient, useLack } from '../session/session.js';
import { type SubscriptionCounts, useSubscriptionCounts } from './use-subscription-counts.js';

const EVERY_MS = 5_000;

/** `over`: something was delivered, or the reader may not take them. */
type Steps = 'unknown' | 'over' | Pick<SubscriptionCounts, 'firstId'>;

export function useFirstSteps(): Steps {
  const { data: counts, isError: isUncounted } = useSubscriptionCounts();
  const { data: hasDelivered, isError } = useHasDelivered();
  const lack = useLack(counts?.firstId === null ? 'subscriptions:create' : 'subscriptions:write');
  if (hasDelivered === true || lack !== null) return 'over';
  if (counts !== undefined && hasDelivered === false) return counts;
  // If it cannot be known, the figures are shown.
  return isUncounted || isError ? 'over' : 'unknown';
}

/** Shown until something was delivered: before that, figures say nothing. */
export function FirstSteps({ steps }: { readonly steps: Exclude<Steps, 'unknown'> }) {
  if (steps === 'over') return null;
  const { firstId } = steps;
  const isSubscribed = firstId !== null;
  return (
    <section className="card first-steps" aria-labelledby="first-steps-title">
      <h2 id="first-steps-title">Receive your first webhook</h2>
      <ol>
        <li className={isSubscribed ? 'done' : ''}>
          Create a subscription: your URL, and the events to send to it.{isSubscribed && ' Done.'}
        </li>
        <li className={isSubscribed ? 'done' : ''}>
          Save its signing secret, and verify requests with the code shown beside it.
        </li>
        <li>Send a test event, and see the response of your endpoint here.</li>
      </ol>
      {firstId === null ? (
        <Link href="/subscriptions/new" className="button primary">
          Create a subscription
        </Link>
      ) : (
        <Link href={`/subscriptions/${firstId}`} className="button primary">
          Send a test event
        </Link>
      )}
    </section>
  );
}

/** Once something was, it stays so. */
function useHasDelivered() {
  const client = useClient();
  return useQuery({
    queryKey: ['has-delivered'],
    queryFn: async ({ signal }) =>
      (await client.listEvents({ status: 'delivered', limit: 1 }, { signal })).data.length > 0,
    refetchInterval: ({ state }) => (state.data === true ? false : EVERY_MS),
  });
}
