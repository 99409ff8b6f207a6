import type { EntityManager } from 'typeorm';
import type { WebhookSubscription } from '@waypost/domain';

/**
 * What a fleet may have, as the configuration of public-api has it: every webhook-delivery process holds the
 * subscriptions of all fleets in memory, every telemetry-processor each version of their geofences, and no caller may fill
 * the database.
 */
export interface FleetLimits {
  readonly subscriptions: number;
  /** Device ids of all its subscriptions together. */
  readonly deviceIds: number;
  /** That are not revoked. As many revoked ones stay listed. */
  readonly apiKeys: number;
  /** That have not ended. As many ended ones stay listed. */
  readonly portalSessions: number;
  /** Of geofences, in a day (UTC); each version counts POSITIONS_PER_VERSION more. */
  readonly writtenPositions: number;
  /** In a day (UTC), with events that are sent again. */
  readonly startedReplays: number;
}

export const NO_LIMITS: FleetLimits = {
  subscriptions: Infinity,
  deviceIds: Infinity,
  apiKeys: Infinity,
  portalSessions: Infinity,
  writtenPositions: Infinity,
  startedReplays: Infinity,
};

export interface LimitReached {
  readonly type: 'limit_reached';
  readonly resource: keyof FleetLimits;
  readonly limit: number;
  /** What the fleet has now. */
  readonly current: number;
  /** What the change would add. */
  readonly added: number;
}

type OfSubscriptions = Pick<FleetLimits, 'subscriptions' | 'deviceIds'>;

/** Whether a change adds more than the fleet may have. The caller holds the lock on the fleet: no two take what is left. */
export async function subscriptionLimitReached(
  manager: EntityManager,
  fleetId: string,
  added: OfSubscriptions,
  limits: FleetLimits,
): Promise<LimitReached | null> {
  // By hand: the query builder has no cardinality(), and the sum would be text.
  const [row] = await manager.query<OfSubscriptions[]>(
    `SELECT count(*)::int AS subscriptions, coalesce(sum(cardinality(device_ids)), 0)::int AS "deviceIds"
       FROM webhook_subscriptions WHERE fleet_id = $1`,
    [fleetId],
  );
  for (const resource of ['subscriptions', 'deviceIds'] as const) {
    const reached = limitReached(limits, resource, row?.[resource] ?? 0, added[resource]);
    if (reached !== null) return reached;
  }
  return null;
}

/** What adds nothing is never refused, even if a limit was lowered. */
export function limitReached(
  limits: FleetLimits,
  resource: keyof FleetLimits,
  current: number,
  added: number,
): LimitReached | null {
  const limit = limits[resource];
  return added > 0 && current + added > limit ? { type: 'limit_reached', resource, limit, current, added } : null;
}

export function deviceIdCount(subscriptions: readonly Pick<WebhookSubscription, 'deviceIds'>[]): number {
  return subscriptions.reduce((count, { deviceIds }) => count + (deviceIds?.length ?? 0), 0);
}
