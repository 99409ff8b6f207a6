import { Link } from 'wouter';
import { useLack } from '../session/session.js';
import { useSubscriptionCounts } from './use-subscription-counts.js';

/** For a fleet without a subscription, whose figures would say nothing. */
export function FirstSteps() {
  const counts = useSubscriptionCounts();
  const lack = useLack('subscriptions:write');
  if (counts === null || counts.all > 0 || lack !== null) return null;
  return (
    <section className="card first-steps" aria-labelledby="first-steps-title">
      <h2 id="first-steps-title">Receive your first webhook</h2>
      <ol>
        <li>Create a subscription: your URL, and the events that it gets.</li>
        <li>Keep its signing secret, and verify requests with the code beside it.</li>
        <li>Send a test event, and see here what your endpoint answered.</li>
      </ol>
      <Link href="/subscriptions/new" className="button primary">
        Create a subscription
      </Link>
    </section>
  );
}
