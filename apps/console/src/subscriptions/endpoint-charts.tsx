import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { ChartCard } from '../charts/chart-card.js';
import { columnsOf, OUTCOMES, STEP_MS } from '../overview/figures.js';
import { useClient } from '../session/session.js';
import { nowMs } from '../shared/clock.js';
import { Segments } from '../shared/segments.js';
import { Failure } from '../shared/states.js';
import { countText, durationText } from '../shared/time-text.js';

const RANGES = {
  hour: { title: '1 hour', step: 'minute', columns: 60 },
  day: { title: '24 hours', step: 'hour', columns: 24 },
  retention: { title: '15 days', step: 'day', columns: 15 },
} as const;

type Range = keyof typeof RANGES;

const TITLES = Object.entries(RANGES).map(([value, { title }]) => ({ value: value as Range, title }));
const EVERY_MS = 5_000;

/** How the deliveries of one subscription go. */
export function EndpointCharts({ subscriptionId }: { readonly subscriptionId: string }) {
  const client = useClient();
  const [range, setRange] = useState<Range>('day');
  const { step, columns: count } = RANGES[range];
  const { data, error, refetch } = useQuery({
    queryKey: ['figures', range, subscriptionId],
    queryFn: async ({ signal }) => {
      const endMs = nowMs();
      const [startDate, endDate] = [new Date(endMs - (count - 1) * STEP_MS[step]), new Date(endMs)];
      const { data: buckets } = await client.getMetrics({ startDate, endDate, step, subscriptionId }, { signal });
      return columnsOf(buckets, startDate.getTime(), endMs, step);
    },
    refetchInterval: EVERY_MS,
    placeholderData: keepPreviousData,
  });
  const columns = data ?? [];
  const shared = { times: columns.map(({ startDate }) => Date.parse(startDate)), stepMs: STEP_MS[step] };
  const isUsed = columns.some(({ delivered, pending, failed }) => delivered + pending + failed > 0);
  const series = (name: 'p50' | 'p95') => ({
    label: name,
    colour: `chart-${name}`,
    values: columns.map(({ latencyMs }) => latencyMs?.[name] ?? null),
  });
  return (
    <section aria-label="Figures" className="figures">
      <Segments label="Range" options={TITLES} value={range} onChange={setRange} />
      {error && !data && <Failure error={error} retry={() => void refetch()} />}
      <div className="charts">
        <ChartCard
          title={`Deliveries per ${step}`}
          about="by their outcome now"
          empty="No delivery began in this time."
          kind="bars"
          {...shared}
          series={
            isUsed
              ? OUTCOMES.map((name) => ({
                  label: name,
                  colour: `chart-${name}`,
                  values: columns.map((column) => column[name]),
                }))
              : []
          }
          format={countText}
        />
        <ChartCard
          title="Time to acceptance"
          about="from the event's delivery to a 2xx, retries included"
          empty="Nothing was accepted in this time."
          kind="lines"
          {...shared}
          series={[series('p50'), series('p95')]}
          format={durationText}
        />
      </div>
    </section>
  );
}
