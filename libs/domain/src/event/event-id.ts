import { hash } from 'node:crypto';
import { formatTime } from '../time/instant.js';

/** Published and fixed: another namespace would give every event, route and stop a new id. */
export const EVENT_ID_NAMESPACE = '4a593909-f2d9-4649-9be7-4f77a4f04955';

export const RESOURCE_ID_NAMESPACE = '96c01286-559a-4d63-81ec-f686a0287df8';

const EVENT_NAMESPACE_BYTES = uuidBytes(EVENT_ID_NAMESPACE);
const RESOURCE_NAMESPACE_BYTES = uuidBytes(RESOURCE_ID_NAMESPACE);
const OPERATION_NAMESPACE_BYTES = uuidBytes('0d0b9a55-3c1c-4d56-9d5e-5f2a3b0f5b77');

/** checkPing() refuses ids that contain it. */
const SEPARATOR = '\u001f';
const UUID_BYTES = 16;

export interface EventIdentity {
  readonly fleetId: string;
  readonly subscriptionId: string;
  readonly deviceId: string;
  readonly eventType: string;
  readonly eventTime: number;
  readonly resourceId?: string | null;
}

/** the id of an event for one subscription, the same whenever and wherever it is computed. */
export function eventId(identity: EventIdentity): string {
  const { fleetId, subscriptionId, deviceId, eventType, eventTime, resourceId } = identity;
  const common = joinIds(fleetId, subscriptionId, deviceId, eventType, formatTime(eventTime));
  const name = resourceId === undefined || resourceId === null ? common : joinIds(common, resourceId);
  return uuidV5(EVENT_NAMESPACE_BYTES, name);
}

export interface ResourceIdentity {
  readonly fleetId: string;
  readonly deviceId: string;
  readonly kind: 'route' | 'stop';
  readonly startTime: number;
}

/** the routeId or activityId. It includes the fleet: equal device ids of two fleets never share a route. */
export function resourceIdOf({ fleetId, deviceId, kind, startTime }: ResourceIdentity): string {
  return uuidV5(RESOURCE_NAMESPACE_BYTES, joinIds(fleetId, deviceId, kind, formatTime(startTime)));
}

export interface OperationIdentity {
  readonly subscriptionId: string;
  readonly type: string;
  readonly about: string;
}

/** The id of an operational event, the same if it is published again after a crash. */
export function operationId({ subscriptionId, type, about }: OperationIdentity): string {
  return uuidV5(OPERATION_NAMESPACE_BYTES, joinIds(subscriptionId, type, about));
}

/** two different lists of ids without control characters never give the same text. */
export function joinIds(...ids: readonly string[]): string {
  return ids.join(SEPARATOR);
}

export function splitIds(joined: string): string[] {
  return joined.split(SEPARATOR);
}

function uuidBytes(uuid: string): Buffer {
  return Buffer.from(uuid.replaceAll('-', ''), 'hex');
}

/** RFC 9562, 5.5. */
function uuidV5(namespace: Buffer, name: string): string {
  const bytes = Buffer.allocUnsafe(UUID_BYTES + Buffer.byteLength(name));
  bytes.set(namespace);
  bytes.write(name, UUID_BYTES);
  // Costs a third of a hash object; ids are computed for every delivery.
  const hex = hash('sha1', bytes, 'hex');
  const variant = ((parseInt(hex.slice(16, 18), 16) & 0x3f) | 0x80).toString(16);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-5${hex.slice(13, 16)}-${variant}${hex.slice(18, 20)}-${hex.slice(20, 32)}`;
}
