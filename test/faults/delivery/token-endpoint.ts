import type { IncomingMessage } from 'node:http';
import type { TokenRequest } from './judge/observations.js';
import { CLIENT_SECRET } from './subscribers.js';

/** Longer than any run: a renewal would look like a request that nothing asks for. */
const LIFETIME_S = 7 * 86_400;

/** Gives a new token each time to those that show the client secret. */
export interface TokenEndpoint {
  readonly requests: readonly TokenRequest[];
  answer(request: IncomingMessage, body: Buffer): { readonly status: number; readonly body: string };
  /** What is wrong with the token of a POST; null: nothing. */
  problemOf(token: string | null, of: { readonly needsToken: boolean; readonly subscriptionId: string }): string | null;
}

export function createTokenEndpoint(): TokenEndpoint {
  const requests: TokenRequest[] = [];
  const issued = new Map<string, string>();
  return {
    requests,
    answer({ headers, socket }, body) {
      const form = new URLSearchParams(body.toString());
      const [clientId, secret] = credentialsOf(headers.authorization, form);
      const problem = problemWith(form, secret);
      requests.push({ source: socket.remoteAddress ?? '', clientId, problem });
      if (problem !== null) return { status: 401, body: JSON.stringify({ error: 'invalid_client' }) };
      const token = `token-${String(requests.length)}`;
      issued.set(token, clientId);
      const answer = { access_token: token, token_type: 'Bearer', expires_in: LIFETIME_S };
      return { status: 200, body: JSON.stringify(answer) };
    },
    problemOf(token, { needsToken, subscriptionId }) {
      if (!needsToken) return token === null ? null : 'a token that nobody has asked for';
      return token !== null && issued.get(token) === subscriptionId ? null : 'no token, or one of another client';
    },
  };
}

/** By either of the two methods, and not by both. */
function credentialsOf(authorization: string | undefined, form: URLSearchParams): [string, string | null] {
  const [clientId, secret] = [form.get('client_id'), form.get('client_secret')];
  if (authorization === undefined) return [clientId ?? '', secret];
  const [id = '', shown = ''] = Buffer.from(authorization.replace(/^Basic /, ''), 'base64')
    .toString()
    .split(':');
  return [id, secret === null ? decodeURIComponent(shown) : null];
}

function problemWith(form: URLSearchParams, secret: string | null): string | null {
  if (secret !== CLIENT_SECRET) return 'another client secret';
  return form.get('grant_type') === 'client_credentials' ? null : 'another grant';
}
