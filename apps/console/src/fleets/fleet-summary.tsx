import type { FigureRange } from '../overview/figure-ranges.js';
import { FigureTable } from '../overview/figure-table.js';
import { type Column, totalsOf } from '../overview/figures.js';
import { AcceptanceChart, OutcomeChart } from '../overview/overview-charts.js';
import { countText, shareText } from '../shared/time-text.js';
import { rateText } from './fleet-rows.js';

interface FleetSummaryProps {
  readonly columns: readonly Column[];
  readonly range: FigureRange;
  /** Of the window. */
  readonly minutes: number;
  readonly isLoading: boolean;
}

/** All fleets together. */
export function FleetSummary({ columns, range: { step }, minutes, isLoading }: FleetSummaryProps) {
  return (
    <div className={isLoading ? 'figures loading' : 'figures'} aria-busy={isLoading}>
      <dl className="tiles">
        {tilesOf(columns, minutes).map(({ name, value, hint, tone = '' }) => (
          <div key={name} className="card">
            <dt>{name}</dt>
            <dd className={tone}>
              {value}
              <span className="hint">{hint}</span>
            </dd>
          </div>
        ))}
      </dl>
      <div className="charts">
        <OutcomeChart columns={columns} step={step} />
        <AcceptanceChart columns={columns} step={step} />
      </div>
      {!isLoading && <FigureTable columns={columns} />}
    </div>
  );
}

function tilesOf(columns: readonly Column[], minutes: number) {
  const { all, delivered, failed, pending, retries, successRate } = totalsOf(columns);
  const rateTone = successRate === null ? '' : successRate < 0.99 ? 'bad' : 'good';
  return [
    { name: 'Deliveries per minute', value: rateText(all / minutes), hint: `${countText(all)} in all` },
    {
      name: 'Success rate',
      value: successRate === null ? '–' : shareText(successRate),
      hint: `${countText(delivered)} accepted`,
      tone: rateTone,
    },
    { name: 'Failed', value: countText(failed), hint: 'after the last attempt', tone: failed > 0 ? 'bad' : '' },
    {
      name: 'Pending',
      value: countText(pending),
      hint: `${countText(retries)} ${retries === 1 ? 'retry' : 'retries'} so far`,
      tone: pending > 0 ? 'waiting' : '',
    },
  ];
}
