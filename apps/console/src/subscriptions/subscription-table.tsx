import { Link } from 'wouter';
import type { ListedSubscription } from '@waypost/client';
import { deliveriesAddress } from '../shared/deliveries-address.js';
import { Moment } from '../shared/moment.js';
import { StatusBadge } from '../shared/status-badge.js';
import { countText } from '../shared/time-text.js';
import type { DayFigures } from './day-figures.js';
import { useDayFigures } from './use-day-figures.js';

const NONE: DayFigures = { delivered: 0, pending: 0, failed: 0 };

/** Each subscription with how its deliveries of the last day went. */
export function SubscriptionTable({ rows }: { readonly rows: readonly ListedSubscription[] }) {
  const known = useDayFigures();
  return (
    <div className="table scrolls stacked" role="region" aria-label="Subscriptions" tabIndex={0}>
      <table>
        <thead>
          <tr>
            <th scope="col">Event</th>
            <th scope="col">URL</th>
            <th scope="col">Status</th>
            <th scope="col">Deliveries, last 24 hours</th>
            <th scope="col">Changed</th>
          </tr>
        </thead>
        <tbody>
          {rows.map(({ id, eventType, url, description, status, suspended, disabledReason, updatedAt }) => (
            <tr key={id} data-row="">
              <td>
                <Link href={`/subscriptions/${id}`}>{eventType}</Link>
              </td>
              <td className="text">
                {url}
                {description !== undefined && <span className="hint below">{description}</span>}
              </td>
              <td>
                <StatusBadge status={suspended && status === 'active' ? 'suspended' : status} />
                {disabledReason !== undefined && <span className="problem below">{disabledReason}</span>}
              </td>
              <td className="day">
                {known && <Day id={id} figures={known.figures.get(id) ?? NONE} from={known.from} />}
              </td>
              <td className="minor">
                <Moment iso={updatedAt} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

const TONES: Readonly<Record<keyof DayFigures, string>> = { delivered: '', pending: 'waiting', failed: 'bad' };

interface DayProps {
  readonly id: string;
  readonly figures: DayFigures;
  readonly from: string;
}

/** Each count leads to what it counts. */
function Day({ id, figures, from }: DayProps) {
  const counts = (['delivered', 'pending', 'failed'] as const).filter((name) => figures[name] > 0);
  if (counts.length === 0) return <span className="hint">none</span>;
  return counts.map((name) => (
    <Link key={name} href={deliveriesAddress({ from, status: name, subscriptionId: id })} className={TONES[name]}>
      {countText(figures[name])} {name}
    </Link>
  ));
}
