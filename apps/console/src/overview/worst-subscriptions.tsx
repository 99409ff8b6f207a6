import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import { useClient } from '../session/session.js';
import { deliveriesAddress } from '../shared/deliveries-address.js';
import { Failure, Outdated } from '../shared/states.js';
import { countText } from '../shared/time-text.js';
import { type FigureRange, windowOf } from './figure-ranges.js';
import { type FailingSubscription, worstOf } from './figures.js';

const EVERY_MS = 10_000;
const SHOWN = 5;

/** Where deliveries fail or have to be repeated. A fleet may have too many subscriptions for it: that is not a failure of the page. */
export function WorstSubscriptions({ range }: { readonly range: FigureRange }) {
  const client = useClient();
  const { data, error, dataUpdatedAt, isPlaceholderData, refetch } = useQuery({
    queryKey: ['worst', range.step, range.columns],
    queryFn: async ({ signal }) => {
      const window = windowOf(range);
      const query = { ...window, step: range.step, groupBy: 'subscription', total: true } as const;
      const { data: totals } = await client.getMetrics(query, { signal });
      return { worst: worstOf(totals, SHOWN), isIdle: totals.length === 0, from: window.startDate.toISOString() };
    },
    refetchInterval: EVERY_MS,
    placeholderData: (before) => before,
  });
  return (
    <section className="card worst" aria-labelledby="worst-title">
      <h2 id="worst-title">Where deliveries fail or are retried</h2>
      {error && !data && <Failure error={error} retry={() => void refetch()} />}
      {error && data && <Outdated error={error} sinceMs={dataUpdatedAt} />}
      {data?.worst.length === 0 && (
        <p className="hint">
          {data.isIdle
            ? 'No delivery began in this time.'
            : 'None in this time: every delivery was accepted at the first attempt.'}
        </p>
      )}
      {data && data.worst.length > 0 && (
        <ol className={isPlaceholderData ? 'plain loading' : 'plain'} aria-busy={isPlaceholderData}>
          {data.worst.map((one) => (
            <Worst key={one.subscriptionId} one={one} from={data.from} />
          ))}
        </ol>
      )}
    </section>
  );
}

function Worst({ one, from }: { readonly one: FailingSubscription; readonly from: string }) {
  const { subscriptionId: id, failed, all, retries } = one;
  const client = useClient();
  const { data: subscription } = useQuery({
    queryKey: ['subscription', id],
    queryFn: ({ signal }) => client.getSubscription({ id }, { signal }),
    staleTime: Infinity,
  });
  const share = all === 0 ? 0 : failed / all;
  return (
    <li>
      <Link href={`/subscriptions/${id}`} className="worst-name">
        <strong>{subscription?.eventType ?? 'subscription'}</strong>{' '}
        <span className="hint text">{subscription?.url ?? id}</span>
      </Link>
      {failed === 0 ? (
        <span className="hint number">none of {countText(all)} failed</span>
      ) : (
        <Link href={deliveriesAddress({ from, status: 'failed', subscriptionId: id })} className="number">
          {countText(failed)} of {countText(all)} failed
        </Link>
      )}
      <span className="hint number">
        {countText(retries)} {retries === 1 ? 'retry' : 'retries'}
      </span>
      <span className="meter" aria-hidden="true">
        <span style={{ width: `${String(100 * share)}%` }} />
      </span>
    </li>
  );
}
