import { createHash } from 'node:crypto';
import { formatTime } from '../time/instant.js';
import { joinIds } from './join-ids.js';

/** Fixed for ever, and published: another one would give every event a new id. */
export const EVENT_ID_NAMESPACE = '4a593909-f2d9-4649-9be7-4f77a4f04955';

const namespaceBytes = Buffer.from(EVENT_ID_NAMESPACE.replaceAll('-', ''), 'hex');

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
  return uuidV5(resourceId === undefined || resourceId === null ? common : joinIds(common, resourceId));
}

function uuidV5(name: string): string {
  const bytes = createHash('sha1').update(namespaceBytes).update(name).digest().subarray(0, 16);
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x50, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  const hex = bytes.toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}
