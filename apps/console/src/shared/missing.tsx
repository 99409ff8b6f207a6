import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { isMissing } from './is-missing.js';
import { Failure } from './states.js';

interface TrailProps {
  readonly href: string;
  readonly children: string;
}

/** To the list that a page belongs to. */
export function Trail({ href, children }: TrailProps) {
  return (
    <p className="trail">
      <Link href={href}>{children}</Link>
    </p>
  );
}

interface MissingOrFailedProps {
  readonly error: Error;
  readonly retry: () => void;
  /** In a few words, what is not there. */
  readonly what: string;
  /** Where to look for it. */
  readonly trail: ReactNode;
  readonly children: ReactNode;
}

/** That what an address names does not exist, which no second attempt changes, or else a failure. */
export function MissingOrFailed({ error, retry, what, trail, children }: MissingOrFailedProps) {
  if (!isMissing(error))
    return (
      <>
        {trail}
        <Failure error={error} retry={retry} />
      </>
    );
  return (
    <>
      {trail}
      <h1>There is no such {what}</h1>
      <p className="hint lead">{children}</p>
    </>
  );
}
