import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';

/** What a caller may see: one fleet, or some of its subscriptions. */
export interface Visibility {
  readonly fleetId: string;
  /** null: the whole fleet. */
  readonly subscriptionIds: readonly string[] | null;
}

/** Who calls, and through it one fleet. */
export interface Caller extends Visibility {
  /** `admin`: an operator, who acts for the fleet that the request names. */
  readonly type: 'api_key' | 'portal_session' | 'admin';
  /** The id of the API key, the session or the admin key. */
  readonly keyId: string;
  readonly scopes: readonly string[];
  /** Epoch milliseconds; null: it does not end by itself. */
  readonly expiresAt: number | null;
}

/** What the API key of a request says about its sender. */
export type RequestIdentity =
  | { readonly type: 'caller'; readonly caller: Caller }
  /** An operator, for no fleet so far. */
  | { readonly type: 'admin'; readonly keyId: string }
  /** No live key: counted for its address. */
  | { readonly type: 'anonymous' }
  /** The key could not be looked up. */
  | { readonly type: 'unknown'; readonly error: Error };

const identities = new WeakMap<Request, RequestIdentity>();

export function setIdentity(request: Request, identity: RequestIdentity): void {
  identities.set(request, identity);
}

export function identityOf(request: Request): RequestIdentity {
  const identity = identities.get(request);
  if (identity === undefined) throw new Error('The sender of this request is not known: mount identifyCallers first');
  return identity;
}

/** The caller that the API key guard let in. */
export const CurrentCaller = createParamDecorator((_: unknown, context: ExecutionContext): Caller => {
  const identity = identityOf(context.switchToHttp().getRequest<Request>());
  if (identity.type === 'caller') return identity.caller;
  throw new Error('This handler has no caller: give its @Endpoint a scope');
});

/** Whether the caller may see this subscription, if it is one of the fleet. */
export function maySee({ subscriptionIds }: Visibility, subscriptionId: string): boolean {
  return subscriptionIds === null || subscriptionIds.includes(subscriptionId);
}

/** The filter that keeps a query to what the caller may see; part of the walk that a page token is bound to. */
export function visibilityFilter({ subscriptionIds }: Visibility): { readonly subscriptionIds?: readonly string[] } {
  return subscriptionIds === null ? {} : { subscriptionIds };
}

/** The token after `Bearer` in the Authorization header, or null. */
export function bearerToken(request: Request): string | null {
  return /^Bearer +(\S+)$/i.exec(request.headers.authorization ?? '')?.[1] ?? null;
}
