import { ChartCard } from '../charts/chart-card.js';
import { countText, durationText, shareText } from '../shared/time-text.js';
import { type Column, OUTCOMES, type Step, STEP_MS, successRate } from './figures.js';

interface OverviewChartsProps {
  readonly columns: readonly Column[];
  readonly step: Step;
}

const PERCENTILES = ['p50', 'p95', 'p99'] as const;

/** The figures of the window over time. All of them count deliveries in the moment of their first attempt. */
export function OverviewCharts({ columns, step }: OverviewChartsProps) {
  const shared = { times: columns.map(({ startDate }) => Date.parse(startDate)), stepMs: STEP_MS[step] };
  const percentiles = (of: 'latencyMs' | 'retryLatenessMs') =>
    PERCENTILES.map((name) => ({
      label: name,
      colour: `chart-${name}`,
      values: columns.map((column) => column[of]?.[name] ?? null),
    }));
  const outcomes = OUTCOMES.map((outcome) => ({
    label: outcome,
    colour: `chart-${outcome}`,
    values: columns.map((column) => column[outcome]),
  }));
  const rate = { label: 'accepted', colour: 'chart-delivered', values: columns.map(successRate) };
  return (
    <>
      <ChartCard
        title={`Deliveries per ${step}`}
        about="by their outcome now"
        empty="No delivery began in this time."
        kind="bars"
        {...shared}
        series={columns.some(({ delivered, pending, failed }) => delivered + pending + failed > 0) ? outcomes : []}
        format={countText}
      />
      <ChartCard
        title="Success rate"
        about="of deliveries that are over"
        empty="No delivery was over in this time."
        kind="lines"
        most={1}
        {...shared}
        series={[rate]}
        format={shareText}
      />
      <ChartCard
        title="Time to acceptance"
        about="from the event's delivery to a 2xx, retries included"
        empty="Nothing was accepted in this time."
        kind="lines"
        {...shared}
        series={percentiles('latencyMs')}
        format={durationText}
      />
      <ChartCard
        title="Lateness of retries"
        about="from when a retry was due to its start"
        empty="No retry was needed in this time."
        kind="lines"
        {...shared}
        series={percentiles('retryLatenessMs')}
        format={durationText}
      />
    </>
  );
}
