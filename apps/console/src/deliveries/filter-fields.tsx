import { useEffect, useId, useState } from 'react';
import { EVENT_TYPES } from '@waypost/client';
import { type DeliveryFilters, ORDERS } from '../filters/delivery-filters.js';
import { EventTypeBoxes } from '../shared/event-type-boxes.js';
import { Popover } from '../shared/popover.js';
import { countText } from '../shared/time-text.js';
import { subscriptionName } from '../subscriptions/subscription-name.js';
import { useSubscriptions } from '../subscriptions/use-subscriptions.js';

interface EventTypesProps {
  readonly chosen: DeliveryFilters['eventTypes'];
  readonly onChange: (chosen: DeliveryFilters['eventTypes']) => void;
}

export function EventTypesField({ chosen, onChange }: EventTypesProps) {
  const [first = 'any', ...others] = chosen;
  const text = others.length === 0 ? first : `${first} and ${String(others.length)} more`;
  return (
    <div className="field">
      <span aria-hidden="true">Event type</span>
      <Popover label={text} title={`Event type: ${text}`}>
        {() => <EventTypeBoxes types={EVENT_TYPES} chosen={chosen} onChange={onChange} />}
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

export function Choice<Value extends string>({ label, value, values, onChange }: ChoiceProps<Value>) {
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

/** Subscriptions are shown by name; one that is not in the list, such as a deleted one, keeps its id. */
export function SubscriptionField({ value, onChange }: Pick<TextFieldProps, 'value' | 'onChange'>) {
  const { items: subscriptions, hasMore } = useSubscriptions();
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
        {hasMore && (
          <option disabled>
            The first {countText(subscriptions.length)}: the page of another one leads to its own
          </option>
        )}
      </select>
    </label>
  );
}

interface OrderFieldProps {
  readonly value: DeliveryFilters['order'];
  readonly onChange: (order: DeliveryFilters['order']) => void;
}

export function OrderField({ value, onChange }: OrderFieldProps) {
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

interface TextFieldProps {
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly placeholder?: string;
  /** The key `/` leads to it. */
  readonly isSearch?: boolean;
  readonly pattern?: string;
  /** What is said where the text does not fit the pattern. */
  readonly problem?: string;
}

/** Takes effect when it is sent or left. */
export function TextField(props: TextFieldProps) {
  const { label, value, onChange, placeholder, isSearch = false, pattern, problem = '' } = props;
  const id = useId();
  const [text, setText] = useState(value);
  const [isWrong, setIsWrong] = useState(false);
  useEffect(() => {
    setText(value);
    setIsWrong(false);
  }, [value]);

  /** The browser's own message would take the focus back to a field that is left. */
  function send(input: HTMLInputElement): void {
    input.value = input.value.trim();
    setIsWrong(!input.validity.valid);
    if (input.validity.valid && input.value !== value) onChange(input.value);
  }

  return (
    <label>
      {label}
      <input
        type="search"
        value={text}
        pattern={pattern}
        placeholder={placeholder}
        data-search={isSearch ? '' : undefined}
        aria-invalid={isWrong}
        aria-describedby={id}
        onChange={(event) => {
          setIsWrong(false);
          setText(event.target.value);
        }}
        onBlur={(event) => send(event.target)}
        onKeyDown={(event) => {
          if (event.key === 'Enter') send(event.currentTarget);
        }}
      />
      <span id={id} role="alert" className="problem">
        {isWrong && problem}
      </span>
    </label>
  );
}
