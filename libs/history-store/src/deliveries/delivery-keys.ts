/** Columns that a page can be filtered by, besides fleet and event. */
export type Facet = 'status' | 'status_code' | 'event_type' | 'subscription_id' | 'device_id';

/** An index of the deliveries of a fleet, by the values of some facets and then by time. */
export interface DeliveryKey {
  /** In the order of hashing, after the fleet. */
  readonly facets: readonly Facet[];
  /** Columns after the time: a scan skips other values without reading the row. */
  readonly finer: readonly Facet[];
}

/**
 * One index per key; their SQL is in libs/database/src/migrations/page-keys-1760000700000.ts. Any one and any two of
 * the filters have a key that selects exactly their deliveries; a third filter is checked within the index
 * (docs/decisions/0024-pages-at-scale.md).
 */
export const DELIVERY_KEYS = {
  status: { facets: ['status'], finer: [] },
  code: { facets: ['status', 'status_code'], finer: [] },
  type: { facets: ['status', 'event_type'], finer: [] },
  typeAndCode: { facets: ['status_code', 'event_type'], finer: ['status'] },
  subscription: { facets: ['status', 'subscription_id'], finer: ['event_type'] },
  subscriptionAndType: { facets: ['event_type', 'subscription_id'], finer: [] },
  subscriptionAndCode: { facets: ['status_code', 'subscription_id'], finer: ['event_type', 'status'] },
  device: { facets: ['device_id'], finer: ['event_type', 'subscription_id', 'status', 'status_code'] },
} as const satisfies Record<string, DeliveryKey>;

export type DeliveryKeyName = keyof typeof DELIVERY_KEYS;

/** The first column of a key's index: a hash of the fleet and the facets. `valueOf` returns the SQL of a value. */
export function hashedKey(facets: readonly Facet[], valueOf: (column: 'fleet_id' | Facet) => string): string {
  return facets.reduce(
    (seed, facet) => `${HASH_64[facet]}(${valueOf(facet)}, ${seed})`,
    `hashtextextended(${valueOf('fleet_id')}, 0)`,
  );
}

export function finerColumn(facet: Facet, value: string): string {
  return facet === 'status_code' ? value : `hashtext(${value})`;
}

const HASH_64: Readonly<Record<Facet, string>> = {
  status: 'hashtextextended',
  status_code: 'hashint4extended',
  event_type: 'hashtextextended',
  subscription_id: 'hashtextextended',
  device_id: 'hashtextextended',
};
