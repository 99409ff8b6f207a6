/** How an endpoint treats its callers. */
export type Behaviour =
  | { readonly type: 'answer'; readonly status: number; readonly delayMs: number }
  /** Takes the connection and the request and never answers. */
  | { readonly type: 'silent' }
  /** Its port takes no connections. */
  | { readonly type: 'refuse' };

export const HEALTHY: Behaviour = { type: 'answer', status: 200, delayMs: 0 };
