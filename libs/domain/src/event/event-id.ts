import { formatTime } from '../time/instant.js';
import { joinIds } from './join-ids.js';
import { uuidBytes, uuidV5 } from './uuid-v5.js';

/** Fixed for ever, and published: another one would give every event a new id. */
export const EVENT_ID_NAMESPACE = '4a593909-f2d9-4649-9be7-4f77a4f04955';

const NAMESPACE_BYTES = uuidBytes(EVENT_ID_NAMESPACE);

export interface EventIdentity {
  readonly fleetId: string;
  readonly subscriptionId: string;
  readonly deviceId: string;
  readonly eventType: string;
  /** Epoch milliseconds. */
  readonly eventTime: number;
  /** routeId, activityId or geofenceId; null or absent for other events. */
  readonly resourceId?: string | null;
}

/** The id of an event for one subscription: a UUIDv5, the same whenever and wherever it is made. */
export function eventId(identity: EventIdentity): string {
  const { fleetId, subscriptionId, deviceId, eventType, eventTime, resourceId } = identity;
  const common = joinIds(fleetId, subscriptionId, deviceId, eventType, formatTime(eventTime));
  return uuidV5(
    NAMESPACE_BYTES,
    resourceId === undefined || resourceId === null ? common : joinIds(common, resourceId),
  );
}
