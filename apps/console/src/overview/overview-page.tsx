import './overview.css';
import { useLocation, useSearch } from 'wouter';
import { Segments } from '../shared/segments.js';
import { Failure, Outdated } from '../shared/states.js';
import { type FigureRange, rangeNameOf, titlesOf, useFigureRanges } from './figure-ranges.js';
import { FigureTable } from './figure-table.js';
import type { Column } from './figures.js';
import { FirstSteps, useFirstSteps } from './first-steps.js';
import { OverviewCharts } from './overview-charts.js';
import { Tiles } from './tiles.js';
import { useFigures } from './use-figures.js';
import { WorstSubscriptions } from './worst-subscriptions.js';

/** How the deliveries of the fleet go: a page that can be left open. */
export function OverviewPage() {
  const [, navigate] = useLocation();
  const ranges = useFigureRanges();
  const name = rangeNameOf(ranges, useSearch());
  const range = ranges[name];
  const { data, error, dataUpdatedAt, isPlaceholderData, refetch } = useFigures(range);
  const steps = useFirstSteps();
  return (
    <>
      <div className="title">
        <h1>Overview</h1>
        {data && error ? <Outdated error={error} sinceMs={dataUpdatedAt} /> : <span className="live">Live</span>}
        <Segments
          label="Range"
          options={titlesOf(ranges)}
          value={name}
          onChange={(next) => navigate(next === 'hour' ? '/overview' : `/overview?range=${next}`, { replace: true })}
        />
      </div>
      {/* Nothing before it is known what stands above it: it would move. */}
      {steps !== 'unknown' && (
        <>
          <FirstSteps steps={steps} />
          {error && !data ? (
            <Failure error={error} retry={() => void refetch()} />
          ) : (
            <Figures columns={data ?? NOTHING_YET} range={range} isLoading={!data || isPlaceholderData} />
          )}
          {data && <WorstSubscriptions range={range} />}
          {data && !isPlaceholderData && <FigureTable columns={data} />}
        </>
      )}
    </>
  );
}

interface FiguresProps {
  readonly columns: readonly Column[];
  readonly range: FigureRange;
  /** Everything has its place already, so that nothing jumps; until its own figures are there, it shows the earlier ones. */
  readonly isLoading: boolean;
}

function Figures({ columns, range: { step }, isLoading }: FiguresProps) {
  return (
    <div className={isLoading ? 'figures loading' : 'figures'} aria-busy={isLoading}>
      <Tiles columns={columns} />
      <div className="charts">
        <OverviewCharts columns={columns} step={step} />
      </div>
    </div>
  );
}

const NOTHING_YET: readonly Column[] = [];
