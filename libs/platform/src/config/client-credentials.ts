import { z } from 'zod';
import { sharedToken, TokenRefusedError, type TokenWithLife } from './shared-token.js';

export interface OAuthClient {
  readonly tokenUrl: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly scope?: string | undefined;
}

interface Effects {
  readonly fetch: typeof fetch;
  /** Monotonic milliseconds. */
  readonly now: () => number;
}

const TIMEOUT_MS = 5_000;
const UNKNOWN_LIFE_SECONDS = 300;

const answerSchema = z.object({ access_token: z.string().min(1), expires_in: z.coerce.number().positive().optional() });

/**
 * Requests tokens by the client credentials grant (RFC 6749, 4.4) for logins. Neither the secret nor the endpoint's
 * response gets into an error.
 */
export function clientCredentialTokens(client: OAuthClient, { fetch, now }: Effects) {
  return sharedToken(() => requestToken(client, fetch), now);
}

async function requestToken(client: OAuthClient, send: typeof fetch): Promise<TokenWithLife> {
  const { tokenUrl, clientId, clientSecret, scope } = client;
  // Both are form-encoded before they become a basic login (RFC 6749, 2.3.1).
  const login = `${encodeURIComponent(clientId)}:${encodeURIComponent(clientSecret)}`;
  const response = await send(tokenUrl, {
    method: 'POST',
    headers: { authorization: `Basic ${Buffer.from(login).toString('base64')}`, accept: 'application/json' },
    body: new URLSearchParams({ grant_type: 'client_credentials', ...(scope === undefined ? {} : { scope }) }),
    redirect: 'error',
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  const { status } = response;
  if (status === 429 || status >= 500) throw new Error(`The token endpoint responded with ${String(status)}`);
  if (!response.ok) throw new TokenRefusedError(`The token endpoint responded with ${String(status)}`);
  const answer = answerSchema.safeParse(await response.json().catch(() => null));
  if (!answer.success) throw new TokenRefusedError('The token endpoint did not return a token');
  const { access_token: value, expires_in: lifeSeconds = UNKNOWN_LIFE_SECONDS } = answer.data;
  return { value, lifeMs: lifeSeconds * 1_000 };
}
