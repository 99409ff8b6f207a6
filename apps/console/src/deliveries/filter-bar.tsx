import { type SyntheticEvent, useEffect, useState } from 'react';
import { type DeliveryFilters, EVENT_TYPES, filtersOf, type Range, RANGES, STATUSES } from './delivery-filters.js';

interface FilterBarProps {
  readonly filters: DeliveryFilters;
  readonly onChange: (filters: DeliveryFilters) => void;
}

/** Lists take effect at once, texts when they are sent or left. */
export function FilterBar({ filters, onChange }: FilterBarProps) {
  function set(change: Partial<DeliveryFilters>): void {
    onChange({ ...filters, ...change });
  }

  return (
    <search>
      <form className="filters" onSubmit={(event: SyntheticEvent) => event.preventDefault()}>
        <label>
          Range
          <select value={filters.range} onChange={(event) => set({ range: event.target.value as Range })}>
            {Object.entries(RANGES).map(([range, title]) => (
              <option key={range} value={range}>
                {title}
              </option>
            ))}
          </select>
        </label>
        <Choice label="Status" values={STATUSES} value={filters.status} onChange={(status) => set({ status })} />
        <Choice
          label="Event type"
          values={EVENT_TYPES}
          value={filters.eventType}
          onChange={(eventType) => set({ eventType })}
        />
        <Field label="Device" isSearch value={filters.deviceId} onChange={(deviceId) => set({ deviceId })} />
        <Field label="Status code" value={filters.statusCode} onChange={(statusCode) => set({ statusCode })} />
        <Field
          label="Subscription"
          value={filters.subscriptionId}
          onChange={(subscriptionId) => set({ subscriptionId })}
        />
        <Field label="Event" value={filters.eventId} onChange={(eventId) => set({ eventId })} />
        <button type="button" onClick={() => onChange(filtersOf(''))}>
          Clear
        </button>
      </form>
    </search>
  );
}

interface FieldProps {
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
  /** The key `/` leads to it. */
  readonly isSearch?: boolean;
}

function Choice({ label, value, values, onChange }: FieldProps & { readonly values: readonly string[] }) {
  return (
    <label>
      {label}
      <select value={value} onChange={(event) => onChange(event.target.value)}>
        <option value="">any</option>
        {values.map((one) => (
          <option key={one}>{one}</option>
        ))}
      </select>
    </label>
  );
}

function Field({ label, value, onChange, isSearch = false }: FieldProps) {
  const [text, setText] = useState(value);
  useEffect(() => setText(value), [value]);

  function send(): void {
    if (text.trim() !== value) onChange(text.trim());
  }

  return (
    <label>
      {label}
      <input
        type="search"
        value={text}
        data-search={isSearch ? '' : undefined}
        onChange={(event) => setText(event.target.value)}
        onBlur={send}
        onKeyDown={(event) => {
          if (event.key === 'Enter') send();
        }}
      />
    </label>
  );
}
