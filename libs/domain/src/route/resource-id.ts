import { joinIds } from '../event/join-ids.js';
import { uuidBytes, uuidV5 } from '../event/uuid-v5.js';
import { formatTime } from '../time/instant.js';

/** Fixed for ever, and published: another one would give every route and stop a new id. */
export const RESOURCE_ID_NAMESPACE = '96c01286-559a-4d63-81ec-f686a0287df8';

const NAMESPACE_BYTES = uuidBytes(RESOURCE_ID_NAMESPACE);

export interface ResourceIdentity {
  readonly fleetId: string;
  readonly deviceId: string;
  readonly kind: 'route' | 'stop';
  /** Epoch milliseconds. */
  readonly startTime: number;
}

/**
 * The routeId or activityId: a UUIDv5, the same whenever the log is processed. A device is known by its fleet and
 * its id, so equal device ids of two fleets never share a route.
 */
export function resourceIdOf({ fleetId, deviceId, kind, startTime }: ResourceIdentity): string {
  return uuidV5(NAMESPACE_BYTES, joinIds(fleetId, deviceId, kind, formatTime(startTime)));
}
