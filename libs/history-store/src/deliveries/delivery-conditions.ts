/** Raw SQL: the conditions leave the planner only the intended index, which TypeORM cannot ensure. */
import { CLOCK_TOLERANCE_MS } from '@waypost/domain';
import { DELIVERY_KEYS, type DeliveryKeyName, type Facet, finerColumn, hashedKey } from './delivery-keys.js';

/** The SQL of each given value. */
export type Values = Readonly<Partial<Record<'fleet_id' | Facet | 'event_id' | 'event_types', string>>>;

/** Conditions on the index of the key. Hashes can collide, so `conditions` checks the row itself. */
export function keyConditions(name: DeliveryKeyName | null, values: Values): string[] {
  if (name === null) return [];
  const { facets, finer }: { facets: readonly Facet[]; finer: readonly Facet[] } = DELIVERY_KEYS[name];
  const hashed = `${hashedKey(facets, (column) => column)} = ${hashedKey(facets, (column) => values[column] ?? '')}`;
  const refined = finer.flatMap((facet) => {
    const value = values[facet];
    if (facet === 'event_type' && values.event_types !== undefined) return [isOneOfTypes(values.event_types)];
    return value === undefined || facet === 'status_code'
      ? []
      : [`${finerColumn(facet, facet)} = ${finerColumn(facet, value)}`];
  });
  return [hashed, ...refined];
}

function isOneOfTypes(types: string): string {
  return `hashtext(event_type) = ANY (ARRAY(SELECT hashtext(wanted) FROM unnest(${types}::text[]) AS wanted))`;
}

export function conditions({ event_types, ...values }: Values): string[] {
  const equal = Object.entries(values).map(([column, value]) => `${column} = ${value}`);
  return event_types === undefined || values.event_type !== undefined
    ? equal
    : [...equal, `event_type = ANY (${event_types})`];
}

/** A lookup by primary key per row; a join could become a full scan. */
export const IS_NOT_WAITING = `(SELECT true FROM fleet_waiting_deliveries w
  WHERE w.event_id = deliveries.event_id AND w.series = deliveries.series AND w.created_at = deliveries.created_at
  LIMIT 1) IS NULL`;

/** Clocks differ: a first attempt may seem to precede the creation. */
export const CLOCK_TOLERANCE = `interval '${String(CLOCK_TOLERANCE_MS.creatorAndSender / 1_000)} s'`;

/**
 * `row` has `event_id`, `series` and `created_at`. The LIMIT makes these lookups in the primary keys of the days since
 * then; a join could become a full scan.
 */
export function hasNoAttempt(row: string, deliveries: 'deliveries' | 'fleet_deliveries'): string {
  return `(SELECT true FROM ${deliveries} d
    WHERE d.event_id = ${row}.event_id AND d.series = ${row}.series
      AND d.first_attempt_at >= ${row}.created_at - ${CLOCK_TOLERANCE}
    LIMIT 1) IS NULL`;
}

/** The fleet of a waiting delivery, hidden from the index by fleet, which would scan everything of it that waits. */
export function fleetOffIndex(column = 'fleet_id'): string {
  return `(${column} || '')`;
}
