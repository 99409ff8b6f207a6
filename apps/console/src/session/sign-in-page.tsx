import { type SyntheticEvent, useState } from 'react';
import { createWaypostClient, WaypostApiError, WaypostConnectionError } from '@waypost/client';
import { RequestId } from '../errors/error-text.js';
import { PortalNotice } from './portal-notice.js';
import { useSession } from './session.js';

/** A portal has no key to ask for; the console itself asks for one. */
export function SignInPage() {
  const { portal, returnUrl, openPortal } = useSession();
  return portal === null ? <KeyForm /> : <PortalNotice state={portal} returnUrl={returnUrl} openAgain={openPortal} />;
}

/** Tries the key before it is taken: a typing error is shown here, not as an empty console. */
function KeyForm() {
  const { signIn } = useSession();
  const [apiKey, setApiKey] = useState('');
  const [problem, setProblem] = useState<Error | null>(null);
  const [isTrying, setIsTrying] = useState(false);

  async function submit(event: SyntheticEvent): Promise<void> {
    event.preventDefault();
    setIsTrying(true);
    const found = await problemOf(apiKey.trim());
    setIsTrying(false);
    if (found === null) signIn(apiKey.trim());
    else setProblem(found);
  }

  return (
    <main className="sign-in">
      <img src="/icon.svg" alt="" width={40} height={40} />
      <div>
        <h1>Sign in to Waypost</h1>
        <p className="hint">See what was sent to your endpoints, and resend it.</p>
      </div>
      <form className="card" onSubmit={(event) => void submit(event)}>
        <label htmlFor="api-key">API key</label>
        <input
          id="api-key"
          type="password"
          autoComplete="off"
          placeholder="wp_..."
          required
          autoFocus
          value={apiKey}
          aria-describedby="sign-in-problem"
          onChange={(event) => setApiKey(event.target.value)}
        />
        <p id="sign-in-problem" role="alert" className="problem">
          {problem && (
            <>
              {wordsOf(problem)} <RequestId error={problem} />
            </>
          )}
        </p>
        <button type="submit" className="primary" disabled={isTrying}>
          {isTrying ? 'Signing in' : 'Sign in'}
        </button>
      </form>
      <p className="hint">
        <code>npm start</code> prints links that sign in at once, as the demo fleet and as the operator. A key of a
        fleet of your own: <code>npm run waypost -- fleet create --help</code>
      </p>
    </main>
  );
}

/** null: the API takes the key. */
async function problemOf(apiKey: string): Promise<Error | null> {
  const client = createWaypostClient({ baseUrl: location.origin, apiKey, retry: { retries: 0 } });
  try {
    await client.getSession();
    return null;
  } catch (error) {
    return error as Error;
  }
}

function wordsOf(error: Error): string {
  if (error instanceof WaypostConnectionError) return 'The API does not respond. Is the address correct?';
  // The client refuses a key that no header can hold, as one with an invisible character.
  const isUnknown = !(error instanceof WaypostApiError) || error.status === 401;
  return isUnknown ? 'The API does not know this key.' : error.message;
}
