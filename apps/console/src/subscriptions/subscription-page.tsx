import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useLocation } from 'wouter';
import type { Subscription, SubscriptionWithHealth, UpdateSubscription } from '@waypost/client';
import { useClient, useLack } from '../session/session.js';
import { Moment } from '../shared/moment.js';
import { Failure, Loading } from '../shared/states.js';
import { StatusBadge } from '../shared/status-badge.js';
import { ConfirmButton } from './confirm-button.js';
import { EditDialog } from './edit-dialog.js';
import { EndpointCharts } from './endpoint-charts.js';
import { OperationalEvents } from './operational-events.js';
import { Replays } from './replays.js';
import { SecretPanel } from './secret-panel.js';

/** One subscription: how it is, and everything that can be done with it. */
export function SubscriptionPage({ id }: { readonly id: string }) {
  const client = useClient();
  const { data, error, isPending, refetch } = useQuery({
    queryKey: ['subscription', id],
    queryFn: ({ signal }) => client.getSubscription({ id }, { signal }),
  });
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
        <Actions subscription={data} />
      </div>
      {data.description !== undefined && <p className="hint lead">{data.description}</p>}
      {data.disabledReason !== undefined && (
        <p className="notice bad-notice">
          <strong>Disabled:</strong> {data.disabledReason}
        </p>
      )}
      <Health subscription={data} />
      <Facts subscription={data} />
      <EndpointCharts subscriptionId={id} />
      <Replays subscriptionId={id} />
      <OperationalEvents subscriptionId={id} />
    </>
  );
}

/** How its deliveries fare, and since when. */
function Health({ subscription: { health } }: { readonly subscription: Partial<SubscriptionWithHealth> }) {
  if (health === undefined) return null;
  const { status, failingSince, suspendedSince, lastSuccessAt, pending, oldestPendingAt } = health;
  return (
    <p className="health">
      <StatusBadge status={status} />
      {HEALTH[status] !== undefined && <span>{HEALTH[status]}</span>}
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
  unknown: 'Nothing was attempted in the last 15 days.',
};

function Since({ what, iso }: { readonly what: string; readonly iso: string }) {
  return (
    <span className="hint">
      {what} <Moment iso={iso} />
    </span>
  );
}

function Facts({ subscription }: { readonly subscription: Subscription }) {
  const { id, url, payloadFormat, auth, deviceIds, onOutage, strictOrder, rateLimitPerSecond, createdAt } =
    subscription;
  const metadata = Object.entries(subscription.metadata);
  const facts: readonly (readonly [string, React.ReactNode])[] = [
    ['URL', url],
    ['Id', <code key="id">{id}</code>],
    [
      'Deliveries',
      <Link key="deliveries" href={`/deliveries?subscriptionId=${id}`}>
        Show them
      </Link>,
    ],
    ['Format', payloadFormat],
    ['Authentication', auth.type === 'bearer' ? `bearer token of ${auth.tokenUrl}` : 'signature only'],
    ['Devices', deviceIds === undefined ? 'every device' : deviceIds.join(', ')],
    ['During an outage', onOutage === 'hold' ? 'deliveries are held' : 'deliveries fail after five attempts'],
    ['Order', strictOrder ? 'strict per device' : 'a retry holds nothing back'],
    ['Limit', rateLimitPerSecond === undefined ? 'none' : `${String(rateLimitPerSecond)} per second`],
    ...(metadata.length === 0
      ? []
      : [['Metadata', metadata.map(([key, value]) => `${key}=${value}`).join(', ')] as const]),
    ['Created', <Moment key="created" iso={createdAt} />],
  ];
  return (
    <dl className="facts card">
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd className="text">{value}</dd>
        </div>
      ))}
    </dl>
  );
}

function Actions({ subscription: { id, status } }: { readonly subscription: Subscription }) {
  const { update, test, rotation, deletion } = useChanges(id);
  const next = status === 'active' ? 'paused' : 'active';
  const error = update.error ?? test.error ?? rotation.error ?? deletion.error;
  const lack = useLack('subscriptions:write');
  if (lack !== null) return <span className="hint">{lack}</span>;
  return (
    <>
      <div className="actions">
        <button type="button" onClick={() => update.mutate({ status: next })} disabled={update.isPending}>
          {next === 'paused' ? 'Pause' : 'Activate'}
        </button>
        <button type="button" onClick={() => test.mutate()} disabled={test.isPending}>
          Send a test event
        </button>
        <EditDialog id={id} />
        <ConfirmButton
          label="Rotate the secret"
          action="Make a new secret"
          disabled={rotation.isPending}
          onConfirm={() => rotation.mutate()}
        >
          It is shown once. For 24 hours deliveries are signed with both secrets, so that receivers can change in
          between.
        </ConfirmButton>
        <ConfirmButton
          label="Delete"
          action="Delete it for good"
          isDangerous
          disabled={deletion.isPending}
          onConfirm={() => deletion.mutate()}
        >
          Nothing more is sent, also of what waits. The history of its deliveries stays.
        </ConfirmButton>
      </div>
      <p role="alert" className="problem">
        {error?.message}
      </p>
      {test.data && (
        <p role="status">
          The test event is on its way: <Link href={`/deliveries?eventId=${test.data.eventId}`}>watch it</Link>
        </p>
      )}
      {rotation.data && <SecretPanel secret={rotation.data.secret} />}
    </>
  );
}

function useChanges(id: string) {
  const client = useClient();
  const queries = useQueryClient();
  const [, navigate] = useLocation();
  const update = useMutation({
    mutationFn: (body: UpdateSubscription) => client.updateSubscription({ id, body }),
    onSuccess: (changed) => {
      queries.setQueryData(['subscription', id], changed);
      return queries.invalidateQueries({ queryKey: ['subscriptions'] });
    },
  });
  const test = useMutation({ mutationFn: () => client.sendTestEvent({ id }) });
  const rotation = useMutation({ mutationFn: () => client.rotateSecret({ id }) });
  const deletion = useMutation({
    mutationFn: () => client.deleteSubscription({ id }),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: ['subscriptions'] });
      navigate('/subscriptions');
    },
  });
  return { update, test, rotation, deletion };
}
