import { Link } from 'wouter';
import { deliveriesAddress } from '../shared/deliveries-address.js';
import { countText, shareText } from '../shared/time-text.js';
import { type Column, totalsOf } from './figures.js';
import { useSubscriptionCounts } from './use-subscription-counts.js';

interface TilesProps {
  readonly columns: readonly Column[];
}

interface Tile {
  readonly name: string;
  readonly value: string;
  readonly href: string;
  readonly hint: string;
  readonly tone?: 'good' | 'bad' | 'waiting';
}

/** Each figure leads to what it counts. */
export function Tiles({ columns }: TilesProps) {
  const from = columns[0]?.startDate ?? '';
  const { all, delivered, failed, pending, retries, successRate } = totalsOf(columns);
  const tiles: Tile[] = [
    {
      name: 'Deliveries',
      value: countText(all),
      href: deliveriesAddress({ from }),
      hint: `${countText(retries)} ${retries === 1 ? 'retry' : 'retries'}`,
    },
    {
      name: 'Success rate',
      value: successRate === null ? '–' : shareText(successRate),
      href: deliveriesAddress({ from, status: 'delivered' }),
      hint: `${countText(delivered)} accepted`,
      ...(successRate !== null && { tone: successRate < 0.99 ? 'bad' : 'good' }),
    },
    {
      name: 'Failed',
      value: countText(failed),
      href: deliveriesAddress({ from, status: 'failed' }),
      hint: 'after the last attempt',
      ...(failed > 0 && { tone: 'bad' }),
    },
    {
      name: 'Pending',
      value: countText(pending),
      href: deliveriesAddress({ from, status: 'pending' }),
      // Those that wait for their first attempt are in the list only.
      hint: 'begun, not finished',
      ...(pending > 0 && { tone: 'waiting' }),
    },
    useSubscriptionTile(),
  ];
  return (
    <dl className="tiles">
      {tiles.map(({ name, value, href, hint, tone = '' }) => (
        <div key={name} className="card">
          <dt>{name}</dt>
          <dd className={tone}>
            <Link href={href}>{value}</Link>
            <span className="hint">{hint}</span>
          </dd>
        </div>
      ))}
    </dl>
  );
}

/** How many subscriptions get nothing, for whatever reason. */
function useSubscriptionTile(): Tile {
  const { data: counts } = useSubscriptionCounts();
  const tile = { name: 'Subscriptions stopped', href: '/subscriptions' };
  if (counts === undefined) return { ...tile, value: '–', hint: 'paused, suspended or disabled' };
  const { paused, suspended, disabled, hasMore, hasMoreActive } = counts;
  const hints = [
    paused > 0 && `${countText(paused)} paused`,
    (suspended > 0 || hasMoreActive) && `${countText(suspended)}${hasMoreActive ? '+' : ''} suspended`,
    disabled > 0 && `${countText(disabled)} disabled`,
  ].filter((hint) => hint !== false);
  return {
    ...tile,
    value: `${countText(paused + suspended + disabled)}${hasMore ? '+' : ''}`,
    hint: hints.length === 0 ? 'none of them' : hints.join(', '),
    ...(disabled + suspended > 0 ? { tone: 'bad' } : paused > 0 && { tone: 'waiting' }),
  };
}
