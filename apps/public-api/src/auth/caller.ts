import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';

/** Who calls: one API key, and with it one fleet. */
export interface Caller {
  readonly keyId: string;
  readonly fleetId: string;
  readonly scopes: readonly string[];
}

/** Whom a request comes from, as far as its key tells. */
export type Origin =
  | { readonly type: 'caller'; readonly caller: Caller }
  /** No live key: counted for its address. */
  | { readonly type: 'nobody' }
  /** The key could not be looked up. */
  | { readonly type: 'unknown'; readonly error: Error };

const origins = new WeakMap<Request, Origin>();

export function setOrigin(request: Request, origin: Origin): void {
  origins.set(request, origin);
}

export function originOf(request: Request): Origin {
  const origin = origins.get(request);
  if (origin === undefined)
    throw new Error('Nobody has asked where this request comes from: mount admitRequests first');
  return origin;
}

/** Of a request that the API key guard let in. */
export function callerOf(request: Request): Caller {
  const origin = originOf(request);
  if (origin.type === 'caller') return origin.caller;
  throw new Error('This route is not behind the API key guard: add @UseGuards(ApiKeyGuard)');
}

/** The caller that the API key guard let in. */
export const CurrentCaller = createParamDecorator((_: unknown, context: ExecutionContext): Caller =>
  callerOf(context.switchToHttp().getRequest<Request>()),
);
