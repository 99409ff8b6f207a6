import './overview.css';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useLocation, useSearch } from 'wouter';
import type { WaypostClient } from '@waypost/client';
import { useClient } from '../session/session.js';
import { nowMs } from '../shared/clock.js';
import { Segments } from '../shared/segments.js';
import { Failure, Outdated } from '../shared/states.js';
import { FigureTable } from './figure-table.js';
import { type Column, columnsOf, type Step, STEP_MS } from './figures.js';
import { OverviewCharts } from './overview-charts.js';
import { Tiles } from './tiles.js';
import { WorstSubscriptions } from './worst-subscriptions.js';

const RANGES = {
  hour: { title: '1 hour', step: 'minute', columns: 60, deliveries: '1h' },
  day: { title: '24 hours', step: 'hour', columns: 24, deliveries: '1d' },
  retention: { title: '15 days', step: 'day', columns: 15, deliveries: '15d' },
} as const satisfies Record<string, { title: string; step: Step; columns: number; deliveries: string }>;

type Range = keyof typeof RANGES;

const TITLES = Object.entries(RANGES).map(([value, { title }]) => ({ value: value as Range, title }));
const EVERY_MS = 5_000;

/** How the deliveries of the fleet go: a page that can be left open. */
export function OverviewPage() {
  const client = useClient();
  const [, navigate] = useLocation();
  const asked = new URLSearchParams(useSearch()).get('range') ?? '';
  const range: Range = Object.hasOwn(RANGES, asked) ? (asked as Range) : 'hour';
  const { step, deliveries } = RANGES[range];
  const { data, error, dataUpdatedAt, refetch } = useQuery({
    queryKey: ['figures', range],
    queryFn: ({ signal }) => readColumns(client, range, signal),
    refetchInterval: EVERY_MS,
    placeholderData: keepPreviousData,
  });
  return (
    <>
      <div className="title">
        <h1>Overview</h1>
        {data && error ? <Outdated error={error} sinceMs={dataUpdatedAt} /> : <span className="live">Live</span>}
        <Segments
          label="Range"
          options={TITLES}
          value={range}
          onChange={(next) => navigate(next === 'hour' ? '/overview' : `/overview?range=${next}`, { replace: true })}
        />
      </div>
      {error && !data ? (
        <Failure error={error} retry={() => void refetch()} />
      ) : (
        <Figures columns={data ?? NOTHING_YET} range={range} isLoading={!data} />
      )}
      {data && <WorstSubscriptions window={() => windowOf(range)} step={step} range={deliveries} />}
      {data && <FigureTable columns={data} />}
    </>
  );
}

interface FiguresProps {
  readonly columns: readonly Column[];
  readonly range: Range;
  /** Everything has its place already, so that nothing jumps. */
  readonly isLoading: boolean;
}

function Figures({ columns, range, isLoading }: FiguresProps) {
  return (
    <div className={isLoading ? 'figures loading' : 'figures'} aria-busy={isLoading}>
      <Tiles columns={columns} range={RANGES[range].deliveries} />
      <div className="charts">
        <OverviewCharts columns={columns} step={RANGES[range].step} />
      </div>
    </div>
  );
}

const NOTHING_YET: readonly Column[] = [];

function windowOf(range: Range) {
  const { step, columns } = RANGES[range];
  const endMs = nowMs();
  return { startDate: new Date(endMs - (columns - 1) * STEP_MS[step]), endDate: new Date(endMs) };
}

async function readColumns(client: WaypostClient, range: Range, signal: AbortSignal): Promise<Column[]> {
  const { step } = RANGES[range];
  const window = windowOf(range);
  const { data } = await client.getMetrics({ ...window, step }, { signal });
  return columnsOf(data, window.startDate.getTime(), window.endDate.getTime(), step);
}
