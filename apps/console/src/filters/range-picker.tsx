import { type SyntheticEvent, useState } from 'react';
import { nowMs } from '../shared/clock.js';
import { Popover } from '../shared/popover.js';
import { isoOfInput, localInputText, momentText } from '../shared/time-text.js';
import { useHistoryDays } from '../shared/use-history-days.js';
import { type DeliveryFilters, type Range, RANGES } from './delivery-filters.js';

type Window = Pick<DeliveryFilters, 'range' | 'from' | 'to'>;

interface RangePickerProps extends Window {
  readonly onChange: (window: Window) => void;
}

/** A range until now, or a window of its own, in the zone of the reader. */
export function RangePicker({ range, from, to, onChange }: RangePickerProps) {
  const titles = useTitles();
  const text = useWindowText({ range, from, to });
  return (
    <div className="field">
      <span aria-hidden="true">First attempt</span>
      <Popover label={text} title={`First attempt: ${text}`}>
        {(close) => {
          function choose(window: Window): void {
            close();
            onChange(window);
          }
          return (
            <div className="ranges">
              <ul className="plain">
                {Object.entries(titles).map(([value, title]) => (
                  <li key={value}>
                    <button
                      type="button"
                      className="quiet"
                      aria-pressed={value === range && from === '' && to === ''}
                      onClick={() => choose({ range: value as Range, from: '', to: '' })}
                    >
                      {title}
                    </button>
                  </li>
                ))}
              </ul>
              <WindowForm key={`${from} ${to}`} from={from} to={to} onChange={choose} />
            </div>
          );
        }}
      </Popover>
    </div>
  );
}

/** A range by its name, and a window of its own by its moments. */
export function useWindowText({ range, from, to }: Window): string {
  const titles = useTitles();
  return from === '' && to === '' ? titles[range] : windowText(from, to);
}

function useTitles(): Readonly<Record<Range, string>> {
  const days = useHistoryDays();
  return days === null ? RANGES : { ...RANGES, all: `Last ${String(days)} days` };
}

function windowText(from: string, to: string): string {
  const text = (iso: string): string => momentText(iso, nowMs());
  if (from === '') return `until ${text(to)}`;
  return to === '' ? `since ${text(from)}` : `${text(from)} to ${text(to)}`;
}

type WindowFormProps = Pick<RangePickerProps, 'from' | 'to' | 'onChange'>;

function WindowForm({ from, to, onChange }: WindowFormProps) {
  const [start, setStart] = useState(localInputText(from));
  const [end, setEnd] = useState(localInputText(to));
  const entered = { from: isoOfInput(start, from), to: isoOfInput(end, to) };
  // The API would refuse it. No time compares with ''.
  const isBackwards = Date.parse(entered.from) >= Date.parse(entered.to);
  const isUnreadable = (start !== '' && entered.from === '') || (end !== '' && entered.to === '');

  function submit(event: SyntheticEvent): void {
    event.preventDefault();
    if (isBackwards || isUnreadable) return;
    onChange({ range: '1d', ...entered });
  }

  return (
    <form className="form" onSubmit={submit}>
      <label>
        From
        <input type="datetime-local" step="1" value={start} onChange={(event) => setStart(event.target.value)} />
      </label>
      <label>
        To
        <input type="datetime-local" step="1" value={end} onChange={(event) => setEnd(event.target.value)} />
      </label>
      <p role="alert" className="problem">
        {isBackwards && 'The end is before the start.'}
        {isUnreadable && 'A year has four digits.'}
      </p>
      <button type="submit" disabled={start === '' && end === ''}>
        Apply
      </button>
    </form>
  );
}
