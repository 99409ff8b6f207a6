export type Challenge =
  | { readonly error: 'invalid_token' }
  | { readonly error: 'insufficient_scope'; readonly scope: string };

/** The header of a 401 or 403, which says how to authenticate and what was wrong (RFC 6750, 3). */
export function challengeHeaders(challenge: Challenge | null): Readonly<Record<string, string>> {
  const attributes = Object.entries({ realm: 'waypost', ...challenge });
  return { 'www-authenticate': `Bearer ${attributes.map(([name, value]) => `${name}="${value}"`).join(', ')}` };
}
