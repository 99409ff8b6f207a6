import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { endpointOf, type EndpointOptions } from '../endpoint/endpoint.decorator.js';
import { ApiError } from '../errors/api-error.js';
import { bearerToken, type Caller, originOf } from './caller.js';
import { requireSight } from './portal-sight.js';

/**
 * Admits a request by its API key: 401 without a live one, 403 without the scope of the endpoint, or for a portal
 * session that the endpoint is not meant for.
 */
@Injectable()
export class ApiKeyGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const endpoint = endpointOf(context.getHandler());
    if (endpoint.scope === null) return true;
    const request = context.switchToHttp().getRequest<Request>();
    const origin = originOf(request);
    if (origin.type === 'unknown') throw origin.error;
    if (origin.type === 'anonymous') throw refusal(request);
    requireScope(endpoint.scope, origin.caller);
    requireSight(endpoint, origin.caller, request);
    return true;
  }
}

function requireScope(scope: Exclude<EndpointOptions['scope'], null>, { type, scopes }: Caller): void {
  if (scope === 'any' || scopes.includes(scope)) return;
  const headers = { 'www-authenticate': `Bearer realm="waypost", error="insufficient_scope", scope="${scope}"` };
  const who = type === 'portal_session' ? 'portal session' : 'API key';
  throw new ApiError(403, 'forbidden', `This ${who} lacks the scope ${scope}.`, { headers });
}

function refusal(request: Request): ApiError {
  if (request.headers.authorization === undefined) {
    return unauthorized('An API key is required: "Authorization: Bearer wp_...".', '');
  }
  const token = bearerToken(request);
  if (token === null) return unauthorized('The Authorization header must be "Bearer wp_...".', '');
  if (token.startsWith('wps_')) return unauthorized('The portal session has ended.', ', error="invalid_token"');
  return unauthorized('The API key is not known.', ', error="invalid_token"');
}

function unauthorized(message: string, challenge: string): ApiError {
  const headers = { 'www-authenticate': `Bearer realm="waypost"${challenge}` };
  return new ApiError(401, 'unauthorized', message, { headers });
}
