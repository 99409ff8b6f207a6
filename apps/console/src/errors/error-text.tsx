import { WaypostApiError, WaypostConnectionError } from '@waypost/client';

/** What went wrong, in words. */
export function textOf(error: Error): string {
  if (error instanceof WaypostConnectionError)
    return navigator.onLine ? 'The API does not respond.' : 'This device is offline.';
  return error.message;
}

/** Finds it in the logs. */
export function RequestId({ error }: { readonly error: Error }) {
  if (!(error instanceof WaypostApiError) || error.requestId === null) return null;
  return (
    <>
      Request <code>{error.requestId}</code>
    </>
  );
}
