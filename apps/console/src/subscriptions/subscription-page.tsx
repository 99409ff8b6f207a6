import './subscriptions.css';
import { useQuery } from '@tanstack/react-query';
import type { SubscriptionWithHealth } from '@waypost/client';
import { useClient } from '../session/session.js';
import { isMissing } from '../shared/is-missing.js';
import { MissingOrFailed, Trail } from '../shared/missing.js';
import { Moment } from '../shared/moment.js';
import { ActionError, Loading, Outdated } from '../shared/states.js';
import { StatusBadge } from '../shared/status-badge.js';
import { useHistoryDays } from '../shared/use-history-days.js';
import { usePageTitle } from '../shared/use-page-title.js';
import { EndpointCharts } from './endpoint-charts.js';
import { LatestDeliveries } from './latest-deliveries.js';
import { OperationalEvents } from './operational-events.js';
import { Replays } from './replays.js';
import { SecretPanel } from './secret-panel.js';
import { SubscriptionActions, type SubscriptionChanges, useSubscriptionChanges } from './subscription-actions.js';
import { SubscriptionFacts } from './subscription-facts.js';
import { subscriptionName } from './subscription-name.js';
import { TestResult } from './test-result.js';
import { useTestEvent } from './use-test-event.js';

const EVERY_MS = 5_000;

/** One subscription: how it is, and everything that can be done with it. */
export function SubscriptionPage({ id }: { readonly id: string }) {
  const client = useClient();
  const { data, error, dataUpdatedAt, isPending, refetch } = useQuery({
    queryKey: ['subscription', id],
    queryFn: ({ signal }) => client.getSubscription({ id }, { signal }),
    refetchInterval: ({ state }) => !isMissing(state.error) && EVERY_MS,
  });
  const changes = useSubscriptionChanges(id);
  const test = useTestEvent(id);
  usePageTitle(data === undefined ? '' : subscriptionName(data));
  if (isPending) return <Loading what="the subscription" />;
  const trail = <Trail href="/subscriptions">Subscriptions</Trail>;
  const absence = (reason: Error) => (
    <MissingOrFailed error={reason} retry={() => void refetch()} what="subscription" trail={trail}>
      It was deleted, or belongs to another fleet. The history of its deliveries stays.
    </MissingOrFailed>
  );
  if (!data) return absence(error);
  // What was read before it was gone is hidden as well.
  if (isMissing(error)) return absence(error);
  return (
    <>
      {trail}
      {error && <Outdated error={error} sinceMs={dataUpdatedAt} />}
      <div className="title">
        <div className="heading">
          <h1>{data.eventType}</h1>
          <StatusBadge status={data.status} />
          <p className="hint text">
            {data.url}
            {data.description !== undefined && <span className="below">{data.description}</span>}
          </p>
        </div>
        <SubscriptionActions subscription={data} changes={changes} test={test} />
      </div>
      <ActionError error={changes.error} />
      <TestResult test={test} />
      <NewSecret rotation={changes.rotation} eventType={data.eventType} />
      {data.disabledReason !== undefined && (
        <p className="notice bad-notice">
          <strong>Disabled:</strong> {data.disabledReason}
        </p>
      )}
      <Health subscription={data} />
      <EndpointCharts subscriptionId={id} />
      <LatestDeliveries subscriptionId={id} />
      <SubscriptionFacts subscription={data} />
      <Replays subscriptionId={id} />
      <OperationalEvents subscriptionId={id} />
    </>
  );
}

interface NewSecretProps extends Pick<SubscriptionChanges, 'rotation'> {
  readonly eventType: string;
}

function NewSecret({ rotation: { data, variables }, eventType }: NewSecretProps) {
  if (!data) return null;
  const { scope, others } = variables;
  const [rotated, kept] = scope === 'url' ? [others, []] : [[], others];
  return <SecretPanel secret={data.secret} eventTypes={[eventType, ...rotated]} others={kept} />;
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
  healthy: 'The last delivery was accepted.',
  failing: 'Nothing sent since the last success has been accepted.',
  suspended: 'Deliveries are held until a probe is accepted.',
};

function Since({ what, iso }: { readonly what: string; readonly iso: string }) {
  return (
    <span className="hint">
      {what} <Moment iso={iso} />
    </span>
  );
}
