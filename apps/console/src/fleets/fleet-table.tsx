import { Link } from 'wouter';
import type { FigureRange } from '../overview/figure-ranges.js';
import { successRate } from '../overview/figures.js';
import { deliveriesAddress } from '../shared/deliveries-address.js';
import { countText, shareText } from '../shared/time-text.js';
import { type FleetRow, rateText } from './fleet-rows.js';

interface FleetTableProps {
  readonly rows: readonly FleetRow[];
  /** Of the addresses of overviews, such as `?range=day`. */
  readonly overviewSearch: string;
  readonly range: FigureRange;
  /** Where its counts begin; undefined: not known. */
  readonly since: Date | undefined;
}

const NUMBERS = ['Per minute', 'Deliveries', 'Success', 'Failed', 'Pending', 'Retries'] as const;
/** Left out on a small screen. */
const MINOR: readonly string[] = ['Deliveries', 'Retries'];

/** Each fleet with how its deliveries went. A fleet and its counts lead to what they are of. */
export function FleetTable({ rows, range, overviewSearch, since }: FleetTableProps) {
  return (
    <div className="table scrolls dense" role="region" aria-label={`Fleets, last ${range.title}`} tabIndex={0}>
      <table>
        <thead>
          <tr>
            <th scope="col">Fleet</th>
            {NUMBERS.map((name) => (
              <th key={name} scope="col" className={MINOR.includes(name) ? 'number minor' : 'number'}>
                {name}
              </th>
            ))}
            <th scope="col" className="minor">
              Format
            </th>
            <th scope="col" className="minor">
              Routes and stops
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <Row key={row.id} row={row} since={since} overviewSearch={overviewSearch} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

interface RowProps extends Omit<FleetTableProps, 'rows' | 'range'> {
  readonly row: FleetRow;
}

function Row({ row: { id, fleet, counts }, since, overviewSearch }: RowProps) {
  const rate = counts && successRate(counts);
  const listOf = (status: 'failed' | 'pending') =>
    `~/fleets/${id}${deliveriesAddress({ status, from: since?.toISOString() ?? '' })}`;
  return (
    <tr data-row="">
      <td className="text">
        <Link href={`~/fleets/${id}/overview${overviewSearch}`}>{id}</Link>
        {fleet?.name !== undefined && <span className="hint below">{fleet.name}</span>}
      </td>
      <td className="number">{counts ? rateText(counts.perMinute) : '–'}</td>
      <td className="number minor">{counts ? countText(counts.all) : '–'}</td>
      <td className={rate !== null && rate < 0.99 ? 'number bad' : 'number'}>
        {rate === null ? '–' : shareText(rate)}
      </td>
      <td className="number">
        <Count count={counts?.failed} href={listOf('failed')} tone="bad" />
      </td>
      <td className="number">
        <Count count={counts?.pending} href={listOf('pending')} tone="waiting" />
      </td>
      <td className="number minor">{counts ? countText(counts.retries) : '–'}</td>
      <td className="minor">{fleet?.payloadFormat}</td>
      <td className="minor">{fleet && (fleet.routes ? 'yes' : 'no')}</td>
    </tr>
  );
}

interface CountProps {
  readonly count: number | undefined;
  readonly href: string;
  readonly tone: string;
}

function Count({ count, href, tone }: CountProps) {
  if (count === undefined) return '–';
  if (count === 0) return '0';
  return (
    <Link href={href} className={tone}>
      {countText(count)}
    </Link>
  );
}
