import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import { useClient } from '../session/session.js';
import { Moment } from '../shared/moment.js';
import { Failure } from '../shared/states.js';

const SHOWN = 20;

/** What happened to the deliveries of a subscription: failed for good, suspended, resumed, disabled. */
export function OperationalEvents({ subscriptionId: id }: { readonly subscriptionId: string }) {
  const client = useClient();
  const { data, error, refetch } = useQuery({
    queryKey: ['operations', id],
    queryFn: ({ signal }) => client.listSubscriptionOperations({ id, limit: SHOWN }, { signal }),
  });
  return (
    <section className="card" aria-labelledby="operations-title">
      <h2 id="operations-title">What happened</h2>
      {error && <Failure error={error} retry={() => void refetch()} />}
      {data?.data.length === 0 && <p className="hint">No operational events.</p>}
      <ol className="plain">
        {data?.data.map((operation) => (
          <li key={operation.id}>
            <Moment iso={operation.occurredAt} /> <strong>{operation.type}</strong> {operation.reason}
            {operation.eventId !== undefined && (
              <>
                {' '}
                <Link href={`/deliveries/${operation.eventId}`}>Show the event</Link>
              </>
            )}
          </li>
        ))}
      </ol>
    </section>
  );
}
