import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import { useClient } from '../session/session.js';
import { Moment } from '../shared/moment.js';
import { Failure, Outdated } from '../shared/states.js';
import { StatusBadge } from '../shared/status-badge.js';
import { StatusCode } from '../shared/status-code.js';

const SHOWN = 5;
const EVERY_MS = 5_000;

/** What was sent last of one subscription, and the way to all of it. */
export function LatestDeliveries({ subscriptionId }: { readonly subscriptionId: string }) {
  const client = useClient();
  const { data, error, dataUpdatedAt, refetch } = useQuery({
    queryKey: ['latest-deliveries', subscriptionId],
    queryFn: ({ signal }) => client.listEvents({ subscriptionId, order: 'desc', limit: SHOWN }, { signal }),
    refetchInterval: EVERY_MS,
  });
  const rows = data?.data ?? [];
  return (
    <section className="card" aria-labelledby="latest-title">
      <div className="title">
        <h2 id="latest-title">Latest deliveries</h2>
        <Link href={`/deliveries?subscriptionId=${subscriptionId}`}>All deliveries</Link>
      </div>
      {error && !data && <Failure error={error} retry={() => void refetch()} />}
      {error && data && <Outdated error={error} sinceMs={dataUpdatedAt} />}
      <ol className="plain latest">
        {data?.data.length === 0 && (
          <li>
            <span className="hint none">None so far. A test event makes one at once.</span>
          </li>
        )}
        {rows.map(({ eventId, eventType, deviceId, delivery }) => (
          <li key={`${eventId} ${String(delivery.series)}`}>
            <Link href={`/deliveries/${eventId}`} title={deviceId}>
              {deviceId}
            </Link>
            <StatusBadge status={delivery.status} />
            <StatusCode code={delivery.statusCode} error={delivery.attempts.at(-1)?.error} />
            {/* All others are of the one type of the subscription. */}
            <span className="hint">{eventType === 'test' && eventType}</span>
            <span className="hint">
              {delivery.firstAttemptAt === undefined ? 'not yet' : <Moment iso={delivery.firstAttemptAt} />}
            </span>
          </li>
        ))}
        {/* The room of those that there may be, so that what is below stays where it is. */}
        {Array.from({ length: SHOWN - Math.max(rows.length, data ? 1 : 0) }, (_, index) => (
          <li key={index} className="room" aria-hidden="true">
            <span />
            <span className="badge" />
            <span />
            <span />
            <span />
          </li>
        ))}
      </ol>
    </section>
  );
}
