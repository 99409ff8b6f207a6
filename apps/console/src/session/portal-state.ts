import { WaypostApiError } from '@waypost/client';

/** Where the opening of a portal stands while there is no session. */
export type PortalState = 'opening' | 'unusable' | 'unanswered' | 'ended';

/** After an exchange of a code that failed: what refuses the code itself is final, everything else passes. */
export function portalStateAfter(error: unknown): PortalState {
  const isRefused = error instanceof WaypostApiError && error.status >= 400 && error.status < 500;
  return isRefused && error.status !== 429 ? 'unusable' : 'unanswered';
}
