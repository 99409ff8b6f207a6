import type { SubscriptionRef } from '@waypost/history-store';
import type { Request } from 'express';
import type { Caller } from '../auth/caller.js';
import { isUuid } from '../http/parameter-readers.js';
import { createQueryReader } from '../http/query-reader.js';
import { noSuchSubscription } from './subscription-refusals.js';

/** The subscription of the caller's fleet that a path names. @throws ApiError 404 for what cannot be an id */
export function refOf(caller: Caller, id: string): SubscriptionRef {
  if (!isUuid(id)) throw noSuchSubscription();
  return { fleetId: caller.fleetId, id: id.toLowerCase() };
}

/** @throws ApiError 400 naming every query parameter: this resource has none */
export function refuseParameters(request: Request): void {
  createQueryReader(request.url, { single: [] }).finish();
}
