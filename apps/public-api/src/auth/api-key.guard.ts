import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { CREDENTIAL_PREFIXES } from '@waypost/domain';
import { API_KEY_SCOPES, FleetStore } from '@waypost/management-store';
import { endpointOf, type EndpointOptions } from '../endpoint/endpoint.decorator.js';
import { ApiError, invalidHeader } from '../errors/api-error.js';
import { FLEET_HEADER } from './admin-keys.js';
import { bearerToken, type Caller, identityOf, setIdentity } from './caller.js';
import { type Challenge, challengeHeaders } from './challenge.js';
import { requirePortalAccess } from './portal-access.js';

/**
 * Checks what the caller that `identifyCallers` found may do: 401 without one, 403 without the scope of the endpoint
 * or for a portal session that the endpoint is not meant for. An admin key acts for the fleet that the
 * request names.
 */
@Injectable()
export class ApiKeyGuard implements CanActivate {
  constructor(private readonly fleets: FleetStore) {}

  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    const endpoint = endpointOf(context.getHandler());
    if (endpoint.scope === null) return true;
    const request = context.switchToHttp().getRequest<Request>();
    const identity = identityOf(request);
    if (identity.type === 'unknown') throw identity.error;
    if (identity.type === 'anonymous') throw refusal(request);
    if (identity.type === 'admin') return this.admitAdmin(endpoint, identity.keyId, request);
    requireScope(endpoint.scope, identity.caller);
    requirePortalAccess(endpoint, identity.caller, request);
    return true;
  }

  private async admitAdmin({ scope }: EndpointOptions, keyId: string, request: Request): Promise<boolean> {
    const fleetId = request.get(FLEET_HEADER);
    if (scope === 'admin' || (scope === 'any' && fleetId === undefined)) return true;
    if (fleetId === undefined)
      throw invalidHeader(FLEET_HEADER, 'is required: an admin key acts for one fleet at a time');
    if ((await this.fleets.find(fleetId)) === null)
      throw invalidHeader(FLEET_HEADER, 'does not name an existing fleet');
    const caller: Caller = {
      type: 'admin',
      keyId,
      fleetId,
      scopes: API_KEY_SCOPES,
      subscriptionIds: null,
      expiresAt: null,
    };
    setIdentity(request, { type: 'caller', caller });
    return true;
  }
}

function requireScope(scope: Exclude<EndpointOptions['scope'], null>, { type, scopes }: Caller): void {
  if (scope === 'any' || scopes.includes(scope)) return;
  if (scope === 'admin') throw forbidden('Only an admin key may do this.', null);
  const who = type === 'portal_session' ? 'portal session' : 'API key';
  throw forbidden(`This ${who} lacks the scope ${scope}.`, { error: 'insufficient_scope', scope });
}

function forbidden(message: string, challenge: Challenge | null): ApiError {
  return new ApiError(403, 'forbidden', message, { headers: challengeHeaders(challenge) });
}

function refusal(request: Request): ApiError {
  if (request.headers.authorization === undefined) {
    return unauthorized('An API key is required: "Authorization: Bearer wp_...".', null);
  }
  const token = bearerToken(request);
  if (token === null) return unauthorized('The Authorization header must be "Bearer wp_...".', null);
  if (token.startsWith(CREDENTIAL_PREFIXES.portalToken))
    return unauthorized('The portal session has ended.', { error: 'invalid_token' });
  return unknownApiKey();
}

/** 401 of a key that never existed or was revoked. */
export function unknownApiKey(): ApiError {
  return unauthorized('The API key is unknown.', { error: 'invalid_token' });
}

function unauthorized(message: string, challenge: Challenge | null): ApiError {
  return new ApiError(401, 'unauthorized', message, { headers: challengeHeaders(challenge) });
}
