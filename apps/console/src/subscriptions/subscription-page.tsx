import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import type { SubscriptionWithHealth } from '@waypost/client';
import { useClient } from '../session/session.js';
import { useHistoryDays } from '../session/use-history-days.js';
import { Moment } from '../shared/moment.js';
import { Failure, Loading } from '../shared/states.js';
import { StatusBadge } from '../shared/status-badge.js';
import { EndpointCharts } from './endpoint-charts.js';
import { OperationalEvents } from './operational-events.js';
import { Replays } from './replays.js';
import { SecretPanel } from './secret-panel.js';
import { SubscriptionActions, useSubscriptionChanges } from './subscription-actions.js';
import { SubscriptionFacts } from './subscription-facts.js';
import { TestResult } from './test-result.js';
import { useTestEvent } from './use-test-event.js';

/** One subscription: how it is, and everything that can be done with it. */
export function SubscriptionPage({ id }: { readonly id: string }) {
  const client = useClient();
  const { data, error, isPending, refetch } = useQuery({
    queryKey: ['subscription', id],
    queryFn: ({ signal }) => client.getSubscription({ id }, { signal }),
  });
  const changes = useSubscriptionChanges(id);
  const test = useTestEvent(id);
  if (isPending) return <Loading what="the subscription" />;
  if (error) return <Failure error={error} retry={() => void refetch()} />;
  return (
    <>
      <p className="trail">
        <Link href="/subscriptions">Subscriptions</Link>
      </p>
      <div className="title">
        <h1>{data.eventType}</h1>
        <StatusBadge status={data.status} />
        <SubscriptionActions subscription={data} changes={changes} test={test} />
      </div>
      {data.description !== undefined && <p className="hint lead">{data.description}</p>}
      <p role="alert" className="problem">
        {changes.error?.message}
      </p>
      <TestResult test={test} />
      {changes.rotation.data && <SecretPanel secret={changes.rotation.data.secret} />}
      {data.disabledReason !== undefined && (
        <p className="notice bad-notice">
          <strong>Disabled:</strong> {data.disabledReason}
        </p>
      )}
      <Health subscription={data} />
      <SubscriptionFacts subscription={data} />
      <EndpointCharts subscriptionId={id} />
      <Replays subscriptionId={id} />
      <OperationalEvents subscriptionId={id} />
    </>
  );
}

/** How its deliveries fare, and since when. */
function Health({ subscription: { health } }: { readonly subscription: Partial<SubscriptionWithHealth> }) {
  const days = useHistoryDays();
  if (health === undefined) return null;
  const { status, failingSince, suspendedSince, lastSuccessAt, pending, oldestPendingAt } = health;
  const text =
    status === 'unknown' && days !== null ? `Nothing was sent in the last ${String(days)} days.` : HEALTH[status];
  return (
    <p className="health">
      {status !== 'unknown' && <StatusBadge status={status} />}
      {text !== undefined && <span>{text}</span>}
      {failingSince !== undefined && <Since what="Failing since" iso={failingSince} />}
      {suspendedSince !== undefined && <Since what="Held since" iso={suspendedSince} />}
      {lastSuccessAt !== undefined && <Since what="Last accepted" iso={lastSuccessAt} />}
      {pending > 0 && (
        <span className="hint">
          {pending} pending
          {oldestPendingAt !== undefined && (
            <>
              , the oldest since <Moment iso={oldestPendingAt} />
            </>
          )}
        </span>
      )}
    </p>
  );
}

const HEALTH: Readonly<Record<string, string>> = {
  healthy: 'What was sent last was accepted.',
  failing: 'Nothing that was begun since the last success is accepted.',
  suspended: 'Deliveries are held until a probe is accepted.',
};

function Since({ what, iso }: { readonly what: string; readonly iso: string }) {
  return (
    <span className="hint">
      {what} <Moment iso={iso} />
    </span>
  );
}
