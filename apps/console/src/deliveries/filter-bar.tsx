import { useEffect, useState } from 'react';
import { EVENT_TYPES } from '@waypost/client';
import { type DeliveryFilters, filtersOf, filtersText, ORDERS, STATUSES } from '../filters/delivery-filters.js';
import { RangePicker } from '../filters/range-picker.js';
import { Popover } from '../shared/popover.js';
import { subscriptionName } from '../subscriptions/subscription-name.js';
import { useSubscriptions } from '../subscriptions/use-subscriptions.js';

interface FilterBarProps {
  readonly filters: DeliveryFilters;
  readonly onChange: (filters: DeliveryFilters) => void;
  /** A live tail begins now, has the newest on top, and cannot follow one event. */
  readonly isLive: boolean;
}

/** Lists take effect at once, texts when they are sent or left. */
export function FilterBar({ filters, onChange, isLive }: FilterBarProps) {
  function set(change: Partial<DeliveryFilters>): void {
    onChange({ ...filters, ...change });
  }

  const { range, from, to, statusCode, subscriptionId } = filters;
  const [isUnfolded, setIsUnfolded] = useState(false);
  return (
    <search className={isUnfolded ? 'unfolded' : ''}>
      <button
        type="button"
        className="fold"
        aria-expanded={isUnfolded}
        aria-controls="filters"
        onClick={() => setIsUnfolded(!isUnfolded)}
      >
        {isUnfolded ? 'Hide the filters' : `Filters: ${filtersText(filters)}`}
      </button>
      <div className="filters" id="filters">
        {!isLive && <RangePicker {...{ range, from, to }} onChange={set} />}
        <Choice label="Status" value={filters.status} onChange={(status) => set({ status })} values={STATUSES} />
        <EventTypes chosen={filters.eventTypes} onChange={(eventTypes) => set({ eventTypes })} />
        <Field label="Device" isSearch value={filters.deviceId} onChange={(deviceId) => set({ deviceId })} />
        <Field
          label="Status code"
          value={statusCode}
          onChange={(text) => set({ statusCode: text })}
          pattern="[1-9][0-9]{2}"
          problem="Three digits, such as 503"
        />
        <SubscriptionField value={subscriptionId} onChange={(id) => set({ subscriptionId: id })} />
        {!isLive && (
          <Field
            label="Event id"
            value={filters.eventId}
            onChange={(eventId) => set({ eventId })}
            pattern={UUID_PATTERN}
            problem="A whole event id, as in X-Service-Event-Id"
          />
        )}
        {!isLive && <OrderField value={filters.order} onChange={(order) => set({ order })} />}
        <button type="button" onClick={() => onChange(filtersOf(''))}>
          Clear
        </button>
      </div>
    </search>
  );
}

const UUID_PATTERN = '[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}';

interface EventTypesProps {
  readonly chosen: DeliveryFilters['eventTypes'];
  readonly onChange: (chosen: DeliveryFilters['eventTypes']) => void;
}

function EventTypes({ chosen, onChange }: EventTypesProps) {
  const [first = 'any', ...others] = chosen;
  const text = others.length === 0 ? first : `${first} and ${String(others.length)} more`;
  return (
    <div className="field">
      <span aria-hidden="true">Event type</span>
      <Popover label={text} title={`Event type: ${text}`}>
        {() =>
          EVENT_TYPES.map((type) => (
            <label key={type} className="switch">
              <input
                type="checkbox"
                checked={chosen.includes(type)}
                onChange={({ target }) =>
                  onChange(EVENT_TYPES.filter((one) => (one === type ? target.checked : chosen.includes(one))))
                }
              />
              {type}
            </label>
          ))
        }
      </Popover>
    </div>
  );
}

interface ChoiceProps<Value extends string> {
  readonly label: string;
  readonly value: Value | '';
  readonly values: readonly Value[];
  readonly onChange: (value: Value | '') => void;
}

function Choice<Value extends string>({ label, value, values, onChange }: ChoiceProps<Value>) {
  return (
    <label>
      {label}
      <select value={value} onChange={(event) => onChange(event.target.value as Value | '')}>
        <option value="">any</option>
        {values.map((one) => (
          <option key={one}>{one}</option>
        ))}
      </select>
    </label>
  );
}

/** By name; one that is not in the list, such as a deleted one, keeps its id. */
function SubscriptionField({ value, onChange }: Pick<FieldProps, 'value' | 'onChange'>) {
  const subscriptions = useSubscriptions();
  const isKnown = value === '' || subscriptions.some(({ id }) => id === value);
  return (
    <label>
      Subscription
      <select value={value} onChange={(event) => onChange(event.target.value)}>
        <option value="">any</option>
        {!isKnown && <option value={value}>{value}</option>}
        {subscriptions.map((one) => (
          <option key={one.id} value={one.id}>
            {subscriptionName(one)}
          </option>
        ))}
      </select>
    </label>
  );
}

interface OrderFieldProps {
  readonly value: DeliveryFilters['order'];
  readonly onChange: (order: DeliveryFilters['order']) => void;
}

function OrderField({ value, onChange }: OrderFieldProps) {
  return (
    <label>
      Order
      <select value={value} onChange={({ target }) => onChange(target.value as DeliveryFilters['order'])}>
        {Object.entries(ORDERS).map(([order, title]) => (
          <option key={order} value={order}>
            {title}
          </option>
        ))}
      </select>
    </label>
  );
}

interface FieldProps {
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
  /** The key `/` leads to it. */
  readonly isSearch?: boolean;
  readonly pattern?: string;
  /** What is said where the text does not fit the pattern. */
  readonly problem?: string;
}

function Field({ label, value, onChange, isSearch = false, pattern, problem = '' }: FieldProps) {
  const [text, setText] = useState(value);
  useEffect(() => setText(value), [value]);

  function send(input: HTMLInputElement): void {
    input.value = input.value.trim();
    input.setCustomValidity('');
    if (input.checkValidity()) {
      if (input.value !== value) onChange(input.value);
      return;
    }
    input.setCustomValidity(problem);
    input.reportValidity();
  }

  return (
    <label>
      {label}
      <input
        type="search"
        value={text}
        pattern={pattern}
        data-search={isSearch ? '' : undefined}
        onChange={(event) => {
          event.target.setCustomValidity('');
          setText(event.target.value);
        }}
        onBlur={(event) => send(event.target)}
        onKeyDown={(event) => {
          if (event.key === 'Enter') send(event.currentTarget);
        }}
      />
    </label>
  );
}
