import type { ReactNode } from 'react';
import { WaypostApiError } from '@waypost/client';
import { RequestId, textOf } from '../errors/error-text.js';
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
  const isSignedOut = isOfNoKey(error);
  return (
    <section className="state problem" role="alert">
      <h2>{isSignedOut ? 'Your key is no longer valid' : 'This could not be loaded'}</h2>
      <p>{textOf(error)}</p>
      <p>
        <RequestId error={error} />
      </p>
      <button type="button" onClick={isSignedOut ? signOut : retry}>
        {isSignedOut ? 'Sign in again' : 'Try again'}
      </button>
    </section>
  );
}

/** What is shown stays, and says how old it is. */
export function Outdated({ error, sinceMs }: { readonly error: Error; readonly sinceMs: number }) {
  return (
    <span className="outdated" role="status">
      <span>
        Not updated since <Moment iso={new Date(sinceMs).toISOString()} />. {textOf(error)}
      </span>
      <SignInAgain error={error} />
    </span>
  );
}

interface ActionErrorProps {
  readonly error: Error | null;
  readonly id?: string;
  /** What a page can say better than the error. */
  readonly children?: ReactNode;
}

/** Why something was not done. It has its place before that, so that a screen reader says what comes into it. */
export function ActionError({ error, id, children }: ActionErrorProps) {
  return (
    <p role="alert" id={id} className="problem">
      {children ??
        (error && (
          <>
            {textOf(error)} <RequestId error={error} /> <SignInAgain error={error} />
          </>
        ))}
    </p>
  );
}

function SignInAgain({ error }: { readonly error: Error }) {
  const { signOut } = useSession();
  if (!isOfNoKey(error)) return null;
  return (
    <button type="button" onClick={signOut}>
      Sign in again
    </button>
  );
}

function isOfNoKey(error: Error): boolean {
  return error instanceof WaypostApiError && error.status === 401;
}
