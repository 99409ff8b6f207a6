import type { EntityManager } from 'typeorm';
import type { WebhookSubscription } from '@waypost/domain';

/**
 * What a fleet may have, as the configuration of public-api has it: every webhook-delivery process holds the
 * subscriptions of all fleets in memory.
 */
export interface FleetLimits {
  readonly subscriptions: number;
  /** Device ids of all its subscriptions together. */
  readonly deviceIds: number;
}

export const NO_LIMITS: FleetLimits = { subscriptions: Infinity, deviceIds: Infinity };

export interface LimitReached {
  readonly type: 'limit_reached';
  readonly resource: keyof FleetLimits;
  readonly limit: number;
  /** What the fleet has now. */
  readonly current: number;
  /** What the change would add. */
  readonly added: number;
}

/**
 * Whether a change adds more than the fleet may have; one that adds nothing is never refused, even if a limit was lowered.
 * The caller holds the lock on the fleet, so two changes cannot both take what is left.
 */
export async function limitReached(
  manager: EntityManager,
  fleetId: string,
  added: FleetLimits,
  limits: FleetLimits,
): Promise<LimitReached | null> {
  // By hand: the query builder has no cardinality(), and the sum would be text.
  const [row] = await manager.query<FleetLimits[]>(
    `SELECT count(*)::int AS subscriptions, coalesce(sum(cardinality(device_ids)), 0)::int AS "deviceIds"
       FROM webhook_subscriptions WHERE fleet_id = $1`,
    [fleetId],
  );
  for (const resource of ['subscriptions', 'deviceIds'] as const) {
    const current = row?.[resource] ?? 0;
    if (added[resource] > 0 && current + added[resource] > limits[resource])
      return { type: 'limit_reached', resource, limit: limits[resource], current, added: added[resource] };
  }
  return null;
}

export function deviceIdCount(subscriptions: readonly Pick<WebhookSubscription, 'deviceIds'>[]): number {
  return subscriptions.reduce((count, { deviceIds }) => count + (deviceIds?.length ?? 0), 0);
}
