import { useState } from 'react';
import { type DeliveryFilters, STATUSES } from '../filters/delivery-filters.js';
import { RangePicker } from '../filters/range-picker.js';
import { Choice, EventTypesField, OrderField, SubscriptionField, TextField } from './filter-fields.js';

interface FilterBarProps {
  readonly filters: DeliveryFilters;
  readonly onChange: (filters: DeliveryFilters) => void;
  /** A live tail begins now, has the newest on top, and can follow neither one event nor payloads. */
  readonly isLive: boolean;
}

/** Lists take effect at once, texts when they are sent or left. On a small screen they are folded away. */
export function FilterBar({ filters, onChange, isLive }: FilterBarProps) {
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
        {isUnfolded ? 'Hide the filters' : 'Filter the list'}
      </button>
      <div className={isLive ? 'filters' : 'filters in-fives'} id="filters">
        <Fields filters={filters} onChange={onChange} isLive={isLive} />
      </div>
    </search>
  );
}

function Fields({ filters, onChange, isLive }: FilterBarProps) {
  function set(change: Partial<DeliveryFilters>): void {
    onChange({ ...filters, ...change });
  }

  const { range, from, to, status, eventTypes, deviceId, statusCode, subscriptionId, eventId, payload, order } =
    filters;
  return (
    <>
      {!isLive && <RangePicker {...{ range, from, to }} onChange={set} />}
      <Choice label="Status" value={status} onChange={(one) => set({ status: one })} values={STATUSES} />
      <EventTypesField chosen={eventTypes} onChange={(chosen) => set({ eventTypes: chosen })} />
      <TextField label="Device" isSearch value={deviceId} onChange={(text) => set({ deviceId: text })} />
      <SubscriptionField value={subscriptionId} onChange={(id) => set({ subscriptionId: id })} />
      <TextField
        label="Status code"
        placeholder="e.g. 503"
        value={statusCode}
        onChange={(text) => set({ statusCode: text })}
        pattern="[1-9][0-9]{2}"
        problem="Three digits, such as 503"
      />
      {!isLive && (
        <>
          <TextField
            label="Event id"
            value={eventId}
            onChange={(text) => set({ eventId: text })}
            pattern={UUID_PATTERN}
            problem="A whole event id, as in X-Service-Event-Id"
          />
          <TextField
            label="Payload field"
            placeholder="e.g. driverId:driver-46"
            value={payload}
            onChange={(text) => set({ payload: text })}
            pattern="[^:]+:.*"
            problem="The name of a field, a colon and its value, such as driverId:driver-46"
          />
          <OrderField value={order} onChange={(next) => set({ order: next })} />
        </>
      )}
    </>
  );
}

const UUID_PATTERN = '[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}';
