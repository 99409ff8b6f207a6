import { Link } from 'wouter';
import type { SubscriptionWithSecret } from '@waypost/client';
import { SecretPanel } from './secret-panel.js';
import { TestResult } from './test-result.js';
import { useTestEvent } from './use-test-event.js';

/** What there is to do with new subscriptions, in order: they share a URL and a secret. */
export function CreatedSubscriptions({ subscriptions }: { readonly subscriptions: readonly SubscriptionWithSecret[] }) {
  const [first] = subscriptions;
  if (!first) return null;
  const count = subscriptions.length;
  return (
    <>
      <p className="trail">
        <Link href="/subscriptions">Subscriptions</Link>
      </p>
      <div>
        <h1>{count === 1 ? 'Subscription created' : `${String(count)} subscriptions created`}</h1>
        <p className="hint lead text">
          {subscriptions.map(({ id, eventType }, index) => (
            <span key={id}>
              {index > 0 && ', '}
              <Link href={`/subscriptions/${id}`}>{eventType}</Link>
            </span>
          ))}{' '}
          to {first.url}
        </p>
      </div>
      <SecretPanel secret={first.secret} eventTypes={subscriptions.map(({ eventType }) => eventType)} />
      <TestPanel subscription={first} />
    </>
  );
}

function TestPanel({ subscription: { id, url } }: { readonly subscription: SubscriptionWithSecret }) {
  const test = useTestEvent(id);
  return (
    <section className="card" aria-labelledby="test-title">
      <h2 id="test-title">Try it</h2>
      <p className="text">A test event is sent to {url} at once, independent of the vehicles.</p>
      <div className="actions">
        <button type="button" className="primary" onClick={test.send} disabled={test.isSending}>
          Send a test event
        </button>
        <Link href={`/subscriptions/${id}`}>Go to the subscription</Link>
      </div>
      <TestResult test={test} />
    </section>
  );
}
