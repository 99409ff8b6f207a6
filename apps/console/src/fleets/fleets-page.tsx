import '../overview/overview.css';
import { useState } from 'react';
import { useLocation, useSearch } from 'wouter';
import { type FigureRange, type RangeName, rangeNameOf, titlesOf, useFigureRanges } from '../overview/figure-ranges.js';
import type { Part } from '../shared/first-of.js';
import { Segments } from '../shared/segments.js';
import { RowSkeleton } from '../shared/skeleton.js';
import { Empty, Failure, Outdated } from '../shared/states.js';
import { clockText, countText } from '../shared/time-text.js';
import { type FleetRow, rowsOf, rowsWith } from './fleet-rows.js';
import { FleetSummary } from './fleet-summary.js';
import { FleetTable } from './fleet-table.js';
import { useFleetFigures } from './use-fleet-figures.js';
import { type Fleet, notFoundText, useFleets } from './use-fleets.js';

/** The fleets of the installation and how they fare, for an operator. */
export function FleetsPage() {
  const [, navigate] = useLocation();
  const ranges = useFigureRanges();
  const name = rangeNameOf(ranges, useSearch());
  const range = ranges[name];
  const { data: fleets, error, isPending, refetch } = useFleets();
  const figures = useFleetFigures(range);
  const { columns = [], minutes = 1, totals, totalsWindow } = figures.data ?? {};
  const rows = fleets ? rowsOf(fleets.items, totals, totalsWindow?.minutes ?? 1) : [];
  const isLoading = !figures.data || figures.isPlaceholderData;
  return (
    <>
      <div className="title">
        <h1>Fleets</h1>
        <Freshness {...figures} />
        <Segments
          label="Range"
          options={titlesOf(ranges)}
          value={name}
          onChange={(next) => navigate(`/fleets${searchOf(next)}`, { replace: true })}
        />
      </div>
      {error && !fleets && <Failure error={error} retry={() => void refetch()} />}
      {isPending && <RowSkeleton />}
      {fleets?.items.length === 0 && <NoFleet />}
      {fleets && rows.length > 0 && (
        <>
          {(figures.data || !figures.error) && (
            <FleetSummary columns={columns} minutes={minutes} range={range} isLoading={isLoading} />
          )}
          <FleetList
            fleets={fleets}
            rows={rows}
            range={range}
            overviewSearch={searchOf(name)}
            since={totalsWindow?.since}
          />
        </>
      )}
    </>
  );
}

/** Of an address; the range of an hour has none. */
function searchOf(name: RangeName): string {
  return name === 'hour' ? '' : `?range=${name}`;
}

interface FleetListProps {
  readonly fleets: Part<Fleet>;
  readonly rows: readonly FleetRow[];
  readonly range: FigureRange;
  readonly overviewSearch: string;
  /** Where the counts begin: for the range of an hour before it. */
  readonly since: Date | undefined;
}

function FleetList({ fleets, rows, range, overviewSearch, since }: FleetListProps) {
  const [text, setText] = useState('');
  const found = rowsWith(text, rows);
  return (
    <>
      <div className="actions">
        <input
          type="search"
          data-search=""
          aria-label="Find a fleet by its id or name"
          placeholder="Id or name"
          value={text}
          onChange={({ target }) => setText(target.value)}
        />
        <span className="hint">
          {countText(found.length)} shown, the worst first
          {since && range.step === 'minute' && `, counted since ${clockText(since.toISOString())}`}
        </span>
      </div>
      {found.length === 0 ? (
        <Empty title={notFoundText(fleets)} />
      ) : (
        <FleetTable rows={found} range={range} overviewSearch={overviewSearch} since={since} />
      )}
      {fleets.hasMore && (
        <p className="hint">
          These are the first {countText(fleets.items.length)} fleets. Any other is at <code>/fleets/</code> and its id.
        </p>
      )}
    </>
  );
}

/** How old the figures are; the list of fleets can be read without them. */
function Freshness({ data, error, dataUpdatedAt }: ReturnType<typeof useFleetFigures>) {
  if (data) return error ? <Outdated error={error} sinceMs={dataUpdatedAt} /> : <span className="live">Live</span>;
  return error && <span className="outdated">The figures could not be read.</span>;
}

function NoFleet() {
  return (
    <Empty title="No fleet yet">
      <p>
        Make the first, with a key: <code>npm run waypost -- fleet create acme</code>
      </p>
    </Empty>
  );
}
