import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { endpointOf } from '../endpoint/endpoint.decorator.js';
import { ApiError } from '../errors/api-error.js';
import { bearerToken, originOf } from './caller.js';

/** Admits a request by its API key: 401 without a live one, 403 without the scope of the endpoint. */
@Injectable()
export class ApiKeyGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const { scope } = endpointOf(context.getHandler());
    if (scope === null) return true;
    const request = context.switchToHttp().getRequest<Request>();
    const origin = originOf(request);
    if (origin.type === 'unknown') throw origin.error;
    if (origin.type === 'anonymous') throw refusal(request);
    if (!origin.caller.scopes.includes(scope)) throw forbidden(scope);
    return true;
  }
}

function refusal(request: Request): ApiError {
  if (request.headers.authorization === undefined) {
    return unauthorized('An API key is required: "Authorization: Bearer wp_...".', '');
  }
  if (bearerToken(request) === null) return unauthorized('The Authorization header must be "Bearer wp_...".', '');
  return unauthorized('The API key is not known.', ', error="invalid_token"');
}

function unauthorized(message: string, challenge: string): ApiError {
  const headers = { 'www-authenticate': `Bearer realm="waypost"${challenge}` };
  return new ApiError(401, 'unauthorized', message, { headers });
}

function forbidden(scope: string): ApiError {
  const headers = { 'www-authenticate': `Bearer realm="waypost", error="insufficient_scope", scope="${scope}"` };
  return new ApiError(403, 'forbidden', `This API key lacks the scope ${scope}.`, { headers });
}
