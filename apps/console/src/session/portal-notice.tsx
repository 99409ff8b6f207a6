import type { PortalState } from './portal-state.js';

const TEXTS: Readonly<Record<PortalState, string>> = {
  opening: 'Opening the session',
  unusable: 'This link was used before or has expired. Ask for another one where you found it.',
  unanswered: 'The session could not be opened: the service does not respond.',
  ended: 'Your session has ended.',
};

interface PortalNoticeProps {
  readonly state: PortalState;
  readonly returnUrl: string | null;
  readonly openAgain: () => void;
}

/** In place of the sign-in page: a portal has no API key to ask for. */
export function PortalNotice({ state, returnUrl, openAgain }: PortalNoticeProps) {
  return (
    <main className="sign-in">
      <p role="status">{TEXTS[state]}</p>
      {state === 'ended' && returnUrl === null && (
        <p className="hint">Open it again from the page that brought you here.</p>
      )}
      {state === 'unanswered' && (
        <button type="button" className="primary" onClick={openAgain}>
          Try again
        </button>
      )}
      {state === 'opening' || returnUrl === null ? null : (
        // The page around a frame, not the frame.
        <a href={returnUrl} target="_top" rel="noreferrer">
          Go back
        </a>
      )}
    </main>
  );
}
