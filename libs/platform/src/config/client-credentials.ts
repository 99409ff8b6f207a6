import { z } from 'zod';

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

/** The endpoint knows these credentials, or this request, for wrong: asking again does not help. */
export class TokenRefusedError extends Error {
  override readonly name = 'TokenRefusedError';
  readonly code = 'TOKEN_REFUSED';
}

const TIMEOUT_MS = 5_000;
/** A token is renewed this long before it expires, or at half of its life if that is shorter. */
const MARGIN_MS = 60_000;
const UNKNOWN_LIFE_SECONDS = 300;

const answerSchema = z.object({ access_token: z.string().min(1), expires_in: z.coerce.number().positive().optional() });

/**
 * Tokens of the client credentials grant (RFC 6749, 4.4) for whoever logs in with them. One token serves all callers until
 * shortly before it expires. Neither the secret nor what the endpoint sends gets into an error.
 */
export function clientCredentialTokens(client: OAuthClient, { fetch, now }: Effects) {
  let current: { readonly token: Promise<{ readonly value: string }>; renewAtMs: number } | null = null;

  return (): Promise<{ readonly value: string }> => {
    if (current !== null && now() < current.renewAtMs) return current.token;
    const startedAtMs = now();
    // Callers meanwhile wait for the same answer.
    const next = { token: Promise.resolve({ value: '' }), renewAtMs: Infinity };
    next.token = requestToken(client, fetch).then(
      ({ value, lifeMs }) => {
        next.renewAtMs = startedAtMs + Math.max(lifeMs - MARGIN_MS, lifeMs / 2);
        return { value };
      },
      (error: unknown) => {
        next.renewAtMs = -Infinity;
        throw error;
      },
    );
    current = next;
    return next.token;
  };
}

async function requestToken(client: OAuthClient, send: typeof fetch): Promise<{ value: string; lifeMs: number }> {
  const { tokenUrl, clientId, clientSecret, scope } = client;
  // RFC 6749, 2.3.1: both are form-encoded before they become a basic login.
  const login = `${encodeURIComponent(clientId)}:${encodeURIComponent(clientSecret)}`;
  const response = await send(tokenUrl, {
    method: 'POST',
    headers: { authorization: `Basic ${Buffer.from(login).toString('base64')}`, accept: 'application/json' },
    body: new URLSearchParams({ grant_type: 'client_credentials', ...(scope === undefined ? {} : { scope }) }),
    redirect: 'error',
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  const { status } = response;
  if (status === 429 || status >= 500) throw new Error(`The token endpoint answers ${String(status)}`);
  if (!response.ok) throw new TokenRefusedError(`The token endpoint answers ${String(status)}`);
  const answer = answerSchema.safeParse(await response.json().catch(() => null));
  if (!answer.success) throw new TokenRefusedError('The token endpoint sends something that is not a token');
  const { access_token: value, expires_in: lifeSeconds = UNKNOWN_LIFE_SECONDS } = answer.data;
  return { value, lifeMs: lifeSeconds * 1_000 };
}
