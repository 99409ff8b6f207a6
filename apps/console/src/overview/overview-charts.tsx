import { ChartCard } from '../charts/chart-card.js';
import { leastShare } from '../charts/series.js';
import { countText, durationText, shareText } from '../shared/time-text.js';
import { type Column, OUTCOMES, type Step, STEP_MS, successRate, totalsOf } from './figures.js';

interface ChartsProps {
  readonly columns: readonly Column[];
  readonly step: Step;
}

/** The figures of the window over time. All of them count deliveries in the moment of their first attempt. */
export function OverviewCharts(props: ChartsProps) {
  const { columns } = props;
  const rate = { label: 'accepted', color: 'chart-delivered', values: columns.map(successRate) };
  return (
    <>
      <OutcomeChart {...props} />
      <ChartCard
        title="Success rate"
        about="of finished deliveries"
        empty="No delivery finished in this time."
        kind="lines"
        most={1}
        least={leastShare(rate.values)}
        whole={totalsOf(columns).successRate}
        {...axisOf(props)}
        series={[rate]}
        format={shareText}
      />
      <AcceptanceChart {...props} />
      <ChartCard
        title="Lateness of retries"
        about="from when a retry was due to its start"
        empty="No retry was needed in this time."
        kind="points"
        areDurations
        {...axisOf(props)}
        series={percentilesOf(columns, 'retryLatenessMs')}
        format={durationText}
      />
    </>
  );
}

export function OutcomeChart(props: ChartsProps) {
  const { columns, step } = props;
  const outcomes = OUTCOMES.map((outcome) => ({
    label: outcome,
    color: `chart-${outcome}`,
    values: columns.map((column) => column[outcome]),
  }));
  const isUsed = columns.some(({ delivered, pending, failed }) => delivered + pending + failed > 0);
  return (
    <ChartCard
      title={step === 'day' ? 'Deliveries per day (UTC)' : `Deliveries per ${step}`}
      about="by current outcome"
      empty="No delivery began in this time."
      kind="bars"
      {...axisOf(props)}
      series={isUsed ? outcomes : []}
      format={countText}
    />
  );
}

export function AcceptanceChart(props: ChartsProps) {
  return (
    <ChartCard
      title="Time to acceptance"
      about="until a 2xx, with retries"
      empty="Nothing was accepted in this time."
      kind="lines"
      areDurations
      {...axisOf(props)}
      series={percentilesOf(props.columns, 'latencyMs')}
      format={durationText}
    />
  );
}

function axisOf({ columns, step }: ChartsProps) {
  return { times: columns.map(({ startDate }) => Date.parse(startDate)), stepMs: STEP_MS[step] };
}

function percentilesOf(columns: readonly Column[], of: 'latencyMs' | 'retryLatenessMs') {
  return (['p50', 'p95', 'p99'] as const).map((name) => ({
    label: name,
    color: `chart-${name}`,
    values: columns.map((column) => column[of]?.[name] ?? null),
  }));
}
