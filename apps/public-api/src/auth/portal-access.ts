import type { Request } from 'express';
import type { EndpointOptions } from '../endpoint/endpoint.decorator.js';
import { ApiError, notFound } from '../errors/api-error.js';
import { type Caller, maySee } from './caller.js';
import { challengeHeaders } from './challenge.js';

/**
 * keeps a portal session to what it was made for. An endpoint that does not say what a session may do with it is
 * refused.
 *
 * @throws ApiError 403, or 404 for a subscription that the session does not have, as for one of another fleet
 */
export function requirePortalAccess({ portal = 'refused' }: EndpointOptions, caller: Caller, request: Request): void {
  if (caller.type !== 'portal_session') return;
  if (portal === 'refused') throw refusedToPortal('A portal session cannot do this.');
  if (caller.subscriptionIds === null || portal === 'filtered') return;
  if (portal === 'whole_fleet') throw refusedToPortal('This portal session is limited to some subscriptions.');
  // Ids are stored in lower case, and the path may have them in any.
  const id = String(request.params['id']).toLowerCase();
  if (!maySee(caller, id)) throw notFound('There is no such subscription.');
}

/** 403 for what a portal session may not do. */
export function refusedToPortal(message: string): ApiError {
  return new ApiError(403, 'forbidden', message, { headers: challengeHeaders(null) });
}
