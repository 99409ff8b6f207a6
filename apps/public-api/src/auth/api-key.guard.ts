import { type CanActivate, type ExecutionContext, Inject, Injectable, SetMetadata } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { ApiKeyScope } from '@waypost/management-store';
import type { Request } from 'express';
import { ApiError } from '../errors/api-error.js';
import { bearerToken } from './bearer-token.js';
import { originOf } from './caller.js';

const SCOPE = 'waypost:scope';

/** What a key must be allowed to do to use this route. */
export const RequireScope = (scope: ApiKeyScope) => SetMetadata(SCOPE, scope);

/** Lets a request in by its API key: 401 without a live one, 403 without the scope. */
@Injectable()
export class ApiKeyGuard implements CanActivate {
  constructor(@Inject(Reflector) private readonly reflector: Reflector) {}

  canActivate(context: ExecutionContext): boolean {
    const request = context.switchToHttp().getRequest<Request>();
    const scope = this.reflector.getAllAndOverride<ApiKeyScope>(SCOPE, [context.getHandler(), context.getClass()]);
    const origin = originOf(request);
    if (origin.type === 'unknown') throw origin.error;
    if (origin.type === 'nobody') throw refusal(request);
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
