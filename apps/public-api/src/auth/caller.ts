import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';

/** Who calls: one API key, and through it one fleet. */
export interface Caller {
  readonly keyId: string;
  readonly fleetId: string;
  readonly scopes: readonly string[];
}

/** What the API key of a request says about its sender. */
export type Origin =
  | { readonly type: 'caller'; readonly caller: Caller }
  /** No live key: counted for its address. */
  | { readonly type: 'anonymous' }
  /** The key could not be looked up. */
  | { readonly type: 'unknown'; readonly error: Error };

const origins = new WeakMap<Request, Origin>();

export function setOrigin(request: Request, origin: Origin): void {
  origins.set(request, origin);
}

export function originOf(request: Request): Origin {
  const origin = origins.get(request);
  if (origin === undefined) throw new Error('The origin of this request is not known: mount admitRequests first');
  return origin;
}

/** The caller that the API key guard let in. */
export const CurrentCaller = createParamDecorator((_: unknown, context: ExecutionContext): Caller => {
  const origin = originOf(context.switchToHttp().getRequest<Request>());
  if (origin.type === 'caller') return origin.caller;
  throw new Error('This handler has no caller: give its @Endpoint a scope');
});

/** The token after `Bearer` in the Authorization header, or null. */
export function bearerToken(request: Request): string | null {
  return /^Bearer +(\S+)$/i.exec(request.headers.authorization ?? '')?.[1] ?? null;
}
