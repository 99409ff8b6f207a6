import { WaypostApiError } from '@waypost/client';

/** Whether the API says that there is no such thing, which asking again does not change. */
export function isMissing(error: unknown): error is WaypostApiError {
  return error instanceof WaypostApiError && error.status === 404;
}
