import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'wouter';
import type { WaypostClient } from '@waypost/client';
import { useClient } from '../session/session.js';
import { nowMs } from '../shared/clock.js';
import { Failure, Loading } from '../shared/states.js';
import { DeliveryChart, FigureTable, LatencyChart } from './charts.js';
import { type Column, columnsOf, type FailingSubscription, type Step, STEP_MS, totalsOf, worstOf } from './figures.js';

const RANGES = {
  hour: { title: 'Last hour', step: 'minute', columns: 60, deliveries: '1h' },
  day: { title: 'Last day', step: 'hour', columns: 24, deliveries: '1d' },
  retention: { title: 'Last 15 days', step: 'day', columns: 15, deliveries: '15d' },
} as const satisfies Record<string, { title: string; step: Step; columns: number; deliveries: string }>;

type Range = keyof typeof RANGES;

const EVERY_MS = 5_000;
const WORST = 5;

/** How the deliveries of the fleet go. */
export function OverviewPage() {
  const client = useClient();
  const [range, setRange] = useState<Range>('hour');
  const { data, error, isPending, refetch } = useQuery({
    queryKey: ['figures', range],
    queryFn: ({ signal }) => readFigures(client, range, signal),
    refetchInterval: EVERY_MS,
  });
  return (
    <>
      <div className="title">
        <h1>Overview</h1>
        <label className="switch">
          Range
          <select value={range} onChange={(event) => setRange(event.target.value as Range)}>
            {Object.entries(RANGES).map(([name, { title }]) => (
              <option key={name} value={name}>
                {title}
              </option>
            ))}
          </select>
        </label>
      </div>
      {isPending && <Loading what="the figures" />}
      {error && <Failure error={error} retry={() => void refetch()} />}
      {data && (
        <>
          <Tiles columns={data.columns} range={RANGES[range].deliveries} />
          <DeliveryChart columns={data.columns} />
          <LatencyChart columns={data.columns} />
          <FigureTable columns={data.columns} />
          <Worst subscriptions={data.worst} range={RANGES[range].deliveries} />
        </>
      )}
    </>
  );
}

/** Each figure leads to the deliveries that it counts. */
function Tiles({ columns, range }: { readonly columns: readonly Column[]; readonly range: string }) {
  const { all, failed, pending, successRate } = totalsOf(columns);
  const tiles = [
    { name: 'Deliveries', value: String(all), href: `/deliveries?range=${range}` },
    {
      name: 'Accepted, of those that are over',
      value: successRate === null ? '-' : `${(100 * successRate).toFixed(2)} %`,
      href: `/deliveries?range=${range}&status=delivered`,
    },
    { name: 'Failed', value: String(failed), href: `/deliveries?range=${range}&status=failed` },
    { name: 'Pending', value: String(pending), href: `/deliveries?range=${range}&status=pending` },
  ];
  return (
    <dl className="facts tiles">
      {tiles.map(({ name, value, href }) => (
        <div key={name} className="card">
          <dt>{name}</dt>
          <dd>
            <Link href={href}>{value}</Link>
          </dd>
        </div>
      ))}
    </dl>
  );
}

interface WorstProps {
  readonly subscriptions: readonly FailingSubscription[];
  readonly range: string;
}

function Worst({ subscriptions, range }: WorstProps) {
  return (
    <section className="card" aria-labelledby="worst-title">
      <h2 id="worst-title">Where deliveries fail</h2>
      {subscriptions.length === 0 && <p className="hint">Nowhere in this range.</p>}
      <ol className="plain">
        {subscriptions.map(({ subscriptionId, failed, all }) => (
          <li key={subscriptionId}>
            <Link href={`/subscriptions/${subscriptionId}`}>
              <code>{subscriptionId}</code>
            </Link>{' '}
            <Link href={`/deliveries?range=${range}&status=failed&subscriptionId=${subscriptionId}`}>
              {failed} of {all}
            </Link>
          </li>
        ))}
      </ol>
    </section>
  );
}

async function readFigures(client: WaypostClient, range: Range, signal: AbortSignal) {
  const { step, columns } = RANGES[range];
  const endMs = nowMs();
  const startMs = endMs - (columns - 1) * STEP_MS[step];
  const window = { startDate: new Date(startMs), endDate: new Date(endMs), step };
  const [figures, bySubscription] = await Promise.all([
    client.getMetrics(window, { signal }),
    client.getMetrics({ ...window, step: 'day', groupBy: 'subscription' }, { signal }),
  ]);
  return { columns: columnsOf(figures.data, startMs, endMs, step), worst: worstOf(bySubscription.data, WORST) };
}
