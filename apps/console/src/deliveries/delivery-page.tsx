import './delivery.css';
import { useQuery } from '@tanstack/react-query';
import { useCallback, useState } from 'react';
import { Link } from 'wouter';
import type { Replay, V2Event } from '@waypost/client';
import { useClient, useLack } from '../session/session.js';
import { backedOffMs } from '../shared/back-off.js';
import { nowMs } from '../shared/clock.js';
import { CopyButton } from '../shared/copy-button.js';
import { isMissing } from '../shared/is-missing.js';
import { MissingOrFailed, Trail } from '../shared/missing.js';
import { Moment } from '../shared/moment.js';
import { Loading, Outdated } from '../shared/states.js';
import { StatusBadge } from '../shared/status-badge.js';
import { usePageTitle } from '../shared/use-page-title.js';
import { attemptLines, isProbe } from './attempt-lines.js';
import { AttemptTimeline } from './attempt-timeline.js';
import { DeliveryBody } from './delivery-body.js';
import { outcomeText } from './outcome-text.js';
import { Resend } from './resend.js';
import { sentHeaders } from './sent-headers.js';

const PENDING_EVERY_MS = 2_000;
/** More deliveries of one event than anyone reads; the list of deliveries has the rest. */
const MAX_DELIVERIES = 100;

/** One event with everything that was sent of it, and what came back. */
export function DeliveryPage({ eventId }: { readonly eventId: string }) {
  const client = useClient();
  const { awaitedSeries, sinceMs, awaitSeries, awaitNothing } = useAwaited();
  const { data, error, dataUpdatedAt, isPending, refetch } = useQuery({
    queryKey: ['event', eventId],
    queryFn: ({ signal }) => client.getEvent({ eventId, include: 'body', limit: MAX_DELIVERIES }, { signal }),
    refetchInterval: ({ state }) =>
      state.data && !isMissing(state.error) && isChanging(state.data.data, awaitedSeries)
        ? backedOffMs(PENDING_EVERY_MS, nowMs() - sinceMs)
        : false,
  });
  const [first] = data?.data ?? [];
  usePageTitle(first === undefined ? '' : `${first.eventType} ${first.deviceId}`);
  if (isPending) return <Loading what="the event" />;
  const trail = <Trail href="/deliveries">Deliveries</Trail>;
  const absence = (reason: Error) => (
    <MissingOrFailed error={reason} retry={() => void refetch()} what="event" trail={trail}>
      The id is wrong, or the event is older than the history. It cannot be resent.
    </MissingOrFailed>
  );
  if (!data) return absence(error);
  // What was read before it was gone is hidden as well.
  if (isMissing(error)) return absence(error);
  if (!first) return null;
  return (
    <>
      {trail}
      {error && <Outdated error={error} sinceMs={dataUpdatedAt} />}
      <div className="title">
        <h1 className="text">
          {first.eventType} of <bdi>{first.deviceId}</bdi>, <Moment iso={first.eventTime} />
        </h1>
        <CopyButton text={eventId}>Copy the event id</CopyButton>
        <Resend eventId={eventId} onMade={awaitSeries} onNothingSent={awaitNothing} />
      </div>
      <div className="beside">
        <div className="stack">
          {data.data.map((item) => (
            <Delivery key={`${item.subscriptionId} ${String(item.delivery.series)}`} item={item} />
          ))}
          {data.nextPageState !== null && (
            <p className="hint">
              There are more. <Link href={`/deliveries?range=all&eventId=${eventId}`}>Show all of this event</Link>
            </p>
          )}
        </div>
        <EventFacts event={first} />
      </div>
    </>
  );
}

interface Awaited {
  /** The series of the newest resend, until its delivery is in the history; null: there will be none. */
  readonly awaitedSeries: number | null;
  readonly sinceMs: number;
}

/** What the page waits for, and since when: when it was opened, at first for what is pending by then. */
function useAwaited() {
  const [awaited, setAwaited] = useState<Awaited>(() => ({ awaitedSeries: null, sinceMs: nowMs() }));
  const awaitSeries = ({ series }: Replay) => setAwaited({ awaitedSeries: series, sinceMs: nowMs() });
  const awaitNothing = useCallback(() => setAwaited((before) => ({ ...before, awaitedSeries: null })), []);
  return { ...awaited, awaitSeries, awaitNothing };
}

function EventFacts({ event: { eventId, eventType, deviceId, eventTime } }: { readonly event: V2Event }) {
  const place = new URLSearchParams({ deviceId, at: eventTime }).toString();
  const hasMap = useLack('paths:read') === null;
  return (
    <aside className="card" aria-label="Event">
      <dl className="facts narrow">
        <Fact name="Event time">
          <Moment iso={eventTime} isExact />
        </Fact>
        <Fact name="Device">
          <Link href={`/deliveries?deviceId=${encodeURIComponent(deviceId)}`} className="text">
            {deviceId}
          </Link>
        </Fact>
        {eventType !== 'test' && hasMap && (
          <Fact name="On the map">
            <Link href={`/vehicles?${place}`}>Show where it was</Link>
          </Fact>
        )}
        <Fact name="Event id">
          <code>{eventId}</code>
        </Fact>
      </dl>
    </aside>
  );
}

function isChanging(items: readonly V2Event[], awaitedSeries: number | null): boolean {
  const isShown = awaitedSeries === null || items.some(({ delivery }) => delivery.series === awaitedSeries);
  return !isShown || items.some(({ delivery }) => delivery.status === 'pending');
}

function Fact({ name, children }: { readonly name: string; readonly children: React.ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

function Delivery({ item }: { readonly item: V2Event }) {
  const { delivery, subscriptionId } = item;
  const { data: subscription } = useSubscription(subscriptionId);
  const id = `${subscriptionId}-${String(delivery.series)}`;
  const last = attemptLines(delivery).findLast(({ type }) => type === 'sent');
  return (
    <section className="card" aria-labelledby={id}>
      <h2 id={id} className="delivery-title">
        <StatusBadge status={delivery.status} />
        <Link href={`/subscriptions/${subscriptionId}`} className="text">
          {subscription?.url ?? <code>{subscriptionId}</code>}
        </Link>
        {delivery.series > 0 && <span className="hint">by a replay</span>}
      </h2>
      <p className="outcome">{outcomeText(delivery)}</p>
      <AttemptTimeline delivery={delivery} />
      {last && (
        <details>
          <summary>Headers of the last {isProbe(last.attempt) ? 'probe' : 'attempt'}</summary>
          <pre tabIndex={0}>{sentHeaders(item, last.attempt, subscription?.auth)}</pre>
          <p className="hint">
            Besides those of HTTP itself, the subscription’s own headers, and <code>tracestate</code> where the ping had
            it.
          </p>
        </details>
      )}
      <DeliveryBody item={item} url={subscription?.url} />
    </section>
  );
}

function useSubscription(id: string) {
  const client = useClient();
  return useQuery({
    queryKey: ['subscription', id],
    queryFn: ({ signal }) => client.getSubscription({ id }, { signal }),
  });
}
