import type { ReactNode } from 'react';
import { WaypostApiError, WaypostConnectionError } from '@waypost/client';
import { useSession } from '../session/session.js';
import { Moment } from './moment.js';

/** Nothing is there, and what to do next. */
export function Empty({ title, children }: { readonly title: string; readonly children?: ReactNode }) {
  return (
    <section className="state">
      <h2>{title}</h2>
      {children}
    </section>
  );
}

export function Loading({ what }: { readonly what: string }) {
  return (
    <p className="state" role="status">
      Loading {what}
    </p>
  );
}

/** What went wrong, in words, with the id that finds it in the logs. */
export function Failure({ error, retry }: { readonly error: Error; readonly retry: () => void }) {
  const { signOut } = useSession();
  const isSignedOut = error instanceof WaypostApiError && error.status === 401;
  return (
    <section className="state problem" role="alert">
      <h2>{isSignedOut ? 'Your key is not valid any more' : 'This could not be loaded'}</h2>
      <p>{textOf(error)}</p>
      {error instanceof WaypostApiError && error.requestId !== null && (
        <p>
          Request <code>{error.requestId}</code>
        </p>
      )}
      <button type="button" onClick={isSignedOut ? signOut : retry}>
        {isSignedOut ? 'Sign in again' : 'Try again'}
      </button>
    </section>
  );
}

/** What is shown stays, and says how old it is. */
export function Outdated({ error, sinceMs }: { readonly error: Error; readonly sinceMs: number }) {
  const { signOut } = useSession();
  return (
    <span className="outdated" role="status">
      <span>
        Not updated since <Moment iso={new Date(sinceMs).toISOString()} />. {textOf(error)}
      </span>
      {error instanceof WaypostApiError && error.status === 401 && (
        <button type="button" onClick={signOut}>
          Sign in again
        </button>
      )}
    </span>
  );
}

function textOf(error: Error): string {
  if (error instanceof WaypostConnectionError)
    return navigator.onLine ? 'The API does not respond.' : 'This device is offline.';
  return error.message;
}
