import { type CanActivate, type ExecutionContext, Inject, Injectable, SetMetadata } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { ApiKeyScope } from '@waypost/history-store';
import type { Request } from 'express';
import { ADDRESS_LIMITER, KEY_DIRECTORY, RATE_LIMITER } from '../dependencies.js';
import { ApiError } from '../errors/api-error.js';
import type { AddressLimiter } from '../security/address-limiter.js';
import { setCaller } from './caller.js';
import type { KeyDirectory } from './key-directory.js';
import type { createRateLimiter } from './rate-limiter.js';

const SCOPE = 'waypost:scope';

/** What a key must be allowed to do to use this route. */
export const RequireScope = (scope: ApiKeyScope) => SetMetadata(SCOPE, scope);

/** Lets a request in by its API key: 401 without a live one, 429 when it calls too often, 403 without the scope. */
@Injectable()
export class ApiKeyGuard implements CanActivate {
  constructor(
    @Inject(KEY_DIRECTORY) private readonly keys: KeyDirectory,
    @Inject(RATE_LIMITER) private readonly limiter: ReturnType<typeof createRateLimiter>,
    @Inject(ADDRESS_LIMITER) private readonly addresses: AddressLimiter,
    @Inject(Reflector) private readonly reflector: Reflector,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<Request>();
    const scope = this.reflector.getAllAndOverride<ApiKeyScope>(SCOPE, [context.getHandler(), context.getClass()]);
    const token = bearerToken(request);
    const caller = token === null ? null : await this.keys.find(token);
    if (caller === null) throw this.refusal(request, token);
    const rate = this.limiter.take(caller.keyId);
    if (rate.type === 'limited') throw rateLimited(rate.retryAfterS);
    if (!caller.scopes.includes(scope)) throw forbidden(scope);
    setCaller(request, caller);
    return true;
  }

  /** Guesses are counted by address; requests without any key have been counted before. */
  private refusal(request: Request, token: string | null): ApiError {
    if (request.headers.authorization === undefined) {
      return unauthorized('An API key is required: "Authorization: Bearer wp_...".', '');
    }
    this.addresses.count(request);
    if (token === null) return unauthorized('The Authorization header must be "Bearer wp_...".', '');
    return unauthorized('The API key is not known.', ', error="invalid_token"');
  }
}

function bearerToken(request: Request): string | null {
  return /^Bearer +(\S+)$/i.exec(request.headers.authorization ?? '')?.[1] ?? null;
}

function unauthorized(message: string, challenge: string): ApiError {
  const headers = { 'www-authenticate': `Bearer realm="waypost"${challenge}` };
  return new ApiError(401, 'unauthorized', message, { headers });
}

function rateLimited(retryAfterS: number): ApiError {
  const headers = { 'retry-after': String(retryAfterS) };
  return new ApiError(429, 'rate_limited', 'This API key calls too often; see Retry-After.', { headers });
}

function forbidden(scope: string): ApiError {
  const headers = { 'www-authenticate': `Bearer realm="waypost", error="insufficient_scope", scope="${scope}"` };
  return new ApiError(403, 'forbidden', `This API key lacks the scope ${scope}.`, { headers });
}
