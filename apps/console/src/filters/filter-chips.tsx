import { X } from 'lucide-react';
import { type KeyboardEvent, useEffect, useRef, useState } from 'react';
import { subscriptionName } from '../subscriptions/subscription-name.js';
import { useSubscriptions } from '../subscriptions/use-subscriptions.js';
import { type ActiveFilter, activeFilters } from './active-filters.js';
import { type DeliveryFilters, filtersOf, searchOf } from './delivery-filters.js';
import { useWindowText } from './range-picker.js';

const ICON_PX = 14;

interface FilterChipsProps {
  readonly filters: DeliveryFilters;
  readonly isLive: boolean;
  readonly onChange: (filters: DeliveryFilters) => void;
}

/** The filters in effect, each with what takes it away. The line has its place without any, so that the list does not move. */
export function FilterChips({ filters, isLive, onChange }: FilterChipsProps) {
  const { items: subscriptions } = useSubscriptions();
  const window = useWindowText(filters);
  const named = (id: string): string => {
    const found = subscriptions.find((one) => one.id === id);
    return found ? subscriptionName(found) : id;
  };
  const active = activeFilters(filters, isLive, { window, subscription: named });
  const { line, keepFocus } = useFocusAfterRemoval(active.length);
  const { said, say } = useSaid(filters, isLive);

  function change(next: DeliveryFilters, index: number, text: string): void {
    keepFocus(index);
    say(text, next);
    onChange(next);
  }

  function remove({ label, without }: ActiveFilter, index: number): void {
    change(without, index, `Removed the filter ${label}. ${leftText(active.length - 1)}`);
  }

  function clear(): void {
    change({ ...filtersOf(''), order: filters.order }, 0, 'Removed all filters.');
  }

  return (
    <div ref={line} role="group" aria-label="Filters in effect" tabIndex={-1} className="chips">
      {active.length === 0 && (
        <span className="hint">{isLive ? 'No filters' : `No filters: ${window.toLowerCase()}`}</span>
      )}
      {active.length > 0 && (
        <ul>
          {active.map((one, index) => (
            <li key={`${one.label} ${one.label === 'Event type' ? one.value : ''}`}>
              <Chip filter={one} remove={() => remove(one, index)} />
            </li>
          ))}
        </ul>
      )}
      {active.length > 0 && (
        <button type="button" className="quiet" onClick={clear} data-key="x" aria-keyshortcuts="x">
          Clear all
        </button>
      )}
      <span role="status" className="unseen">
        {said}
      </span>
    </div>
  );
}

function Chip({ filter: { label, value }, remove }: { readonly filter: ActiveFilter; readonly remove: () => void }) {
  function press(event: KeyboardEvent): void {
    if (event.key !== 'Delete' && event.key !== 'Backspace') return;
    event.preventDefault();
    remove();
  }

  return (
    <button type="button" className="chip" title={value} onClick={remove} onKeyDown={press}>
      <span className="unseen">Remove the filter </span>
      <span className="hint">{label}: </span>
      <span className="text">{value}</span>
      <X size={ICON_PX} aria-hidden="true" />
    </button>
  );
}

function leftText(count: number): string {
  if (count === 0) return 'No filters left.';
  return count === 1 ? '1 filter left.' : `${String(count)} filters left.`;
}

/** What a chip has done, until the filters change in another way: a screen reader reads the same words again only after they were gone. */
function useSaid(filters: DeliveryFilters, isLive: boolean) {
  const [said, setSaid] = useState('');
  const search = searchOf(filters);
  const expected = useRef<string | null>(null);
  useEffect(() => {
    if (expected.current !== search) setSaid('');
    expected.current = null;
  }, [search, isLive]);
  const say = (text: string, next: DeliveryFilters): void => {
    expected.current = searchOf(next);
    setSaid(text);
  };
  return { said, say };
}

/** The button that had the focus is gone: the keyboard continues at the one in its place, or at the line. */
function useFocusAfterRemoval(count: number) {
  const line = useRef<HTMLDivElement>(null);
  const removed = useRef(-1);
  useEffect(() => {
    if (removed.current < 0) return;
    const chips = [...(line.current?.querySelectorAll<HTMLElement>('.chip') ?? [])];
    (chips[Math.min(removed.current, chips.length - 1)] ?? line.current)?.focus({ preventScroll: true });
    removed.current = -1;
  }, [count]);
  return { line, keepFocus: (index: number) => void (removed.current = index) };
}
