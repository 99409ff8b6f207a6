/** The credentials, or the token request, are known to be wrong: another try does not help. */
export class TokenRefusedError extends Error {
  override readonly name = 'TokenRefusedError';
  readonly code = 'TOKEN_REFUSED';
}

export interface TokenWithLife {
  readonly value: string;
  readonly lifeMs: number;
}

/** A token is renewed this long before it expires, or after half of its life if that is shorter. */
const MARGIN_MS = 60_000;

/**
 * One token serves all callers until shortly before it expires.
 *
 * @param monotonicMs the clock that measures its life
 */
export function sharedToken(request: () => Promise<TokenWithLife>, monotonicMs: () => number) {
  let current: { readonly token: Promise<{ readonly value: string }>; renewAtMs: number } | null = null;

  return (): Promise<{ readonly value: string }> => {
    if (current !== null && monotonicMs() < current.renewAtMs) return current.token;
    const startedMs = monotonicMs();
    // Callers during the request share its result.
    const next = { token: Promise.resolve({ value: '' }), renewAtMs: Infinity };
    next.token = request().then(
      ({ value, lifeMs }) => {
        next.renewAtMs = startedMs + Math.max(lifeMs - MARGIN_MS, lifeMs / 2);
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
