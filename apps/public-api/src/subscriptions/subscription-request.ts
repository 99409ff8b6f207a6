import type { SubscriptionRef } from '@waypost/management-store';
import type { Caller } from '../auth/caller.js';
import { isUuid } from '../http/parameter-readers.js';
import { noSuchSubscription } from './subscription-refusals.js';

/** The subscription of the caller's fleet that a path names. @throws ApiError 404 for what cannot be an id */
export function refOf(caller: Caller, id: string): SubscriptionRef {
  if (!isUuid(id)) throw noSuchSubscription();
  return { fleetId: caller.fleetId, id: id.toLowerCase() };
}
