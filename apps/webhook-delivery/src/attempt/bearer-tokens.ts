import { openClientSecret, type BearerAuth } from '@waypost/domain';
import type { EgressClient, EgressResult } from '@waypost/egress';

export type TokenResult =
  { readonly type: 'token'; readonly token: string } | { readonly type: 'failed'; readonly detail: string };

/** Bearer tokens by OAuth2 client credentials: one a subscription, shared by all its deliveries. */
export interface BearerTokens {
  /** Concurrent needs share one request. `withinMs` bounds the wait of this caller, not the request. */
  tokenFor(subscriptionId: string, auth: BearerAuth, withinMs: number): Promise<TokenResult>;
  /** After a 401. A token that has been renewed meanwhile stays. */
  discard(subscriptionId: string, token: string): void;
}

export interface BearerTokensOptions {
  readonly egress: EgressClient;
  readonly sealingKey: Buffer;
  readonly now: () => number;
}

interface CachedToken {
  readonly token: string;
  readonly validUntil: number;
  /** A changed client or token URL must not go on with the old one's token. */
  readonly auth: BearerAuth;
}

const EXPIRY_MARGIN_MS = 60_000;
/** For a token endpoint that names no lifetime. */
const DEFAULT_LIFETIME_S = 300;
const REQUEST_DEADLINE_MS = 5_000;
const MAX_RESPONSE_BYTES = 16_384;

export const createBearerTokens = ({ egress, sealingKey, now }: BearerTokensOptions): BearerTokens => {
  const cache = new Map<string, CachedToken>();
  const requests = new Map<string, { auth: BearerAuth; result: Promise<TokenResult> }>();

  const request = async (subscriptionId: string, auth: BearerAuth): Promise<TokenResult> => {
    const secret = openClientSecret(auth.sealedClientSecret, sealingKey, subscriptionId);
    if (secret.type !== 'opened')
      return { type: 'failed', detail: 'the client secret cannot be opened with the configured key' };
    const askedAt = now();
    const answer = await egress.post({
      url: auth.tokenUrl,
      headers: {
        authorization: basicAuthorization(auth.clientId, secret.plaintext.toString()),
        'content-type': 'application/x-www-form-urlencoded',
        accept: 'application/json',
      },
      body: new URLSearchParams({
        grant_type: 'client_credentials',
        ...(auth.scope === null ? {} : { scope: auth.scope }),
      }).toString(),
      deadlineMs: REQUEST_DEADLINE_MS,
      maxResponseBytes: MAX_RESPONSE_BYTES,
    });
    const read = readTokenAnswer(answer);
    if (read.type === 'failed') return read;
    const validUntil = askedAt + read.lifetimeS * 1000 - EXPIRY_MARGIN_MS;
    cache.set(subscriptionId, { token: read.token, validUntil, auth });
    return { type: 'token', token: read.token };
  };

  const shared = (subscriptionId: string, auth: BearerAuth): Promise<TokenResult> => {
    const running = requests.get(subscriptionId);
    if (running && sameAuth(running.auth, auth)) return running.result;
    const result = request(subscriptionId, auth).finally(() => {
      if (requests.get(subscriptionId)?.result === result) requests.delete(subscriptionId);
    });
    requests.set(subscriptionId, { auth, result });
    return result;
  };

  return {
    tokenFor: async (subscriptionId, auth, withinMs) => {
      const cached = cache.get(subscriptionId);
      if (cached && cached.validUntil > now() && sameAuth(cached.auth, auth))
        return { type: 'token', token: cached.token };
      return within(shared(subscriptionId, auth), withinMs);
    },
    discard: (subscriptionId, token) => {
      if (cache.get(subscriptionId)?.token === token) cache.delete(subscriptionId);
    },
  };
};

const sameAuth = (a: BearerAuth, b: BearerAuth): boolean =>
  a.tokenUrl === b.tokenUrl &&
  a.clientId === b.clientId &&
  a.sealedClientSecret === b.sealedClientSecret &&
  a.scope === b.scope;

/** RFC 6749, 2.3.1: both parts are form-encoded before they are joined. */
const basicAuthorization = (clientId: string, clientSecret: string): string => {
  const encoded = `${encodeURIComponent(clientId)}:${encodeURIComponent(clientSecret)}`;
  return `Basic ${Buffer.from(encoded).toString('base64')}`;
};

type TokenAnswer =
  | { readonly type: 'read'; readonly token: string; readonly lifetimeS: number }
  | { readonly type: 'failed'; readonly detail: string };

const readTokenAnswer = (answer: EgressResult): TokenAnswer => {
  if (answer.type === 'aborted') return { type: 'failed', detail: 'the token request was given up' };
  if (answer.type === 'error') return { type: 'failed', detail: `token endpoint: ${answer.errorCode}` };
  if (answer.statusCode !== 200)
    return { type: 'failed', detail: `token endpoint answered ${String(answer.statusCode)}` };
  const body = parseJson(answer.body);
  const token = body?.['access_token'];
  if (typeof token !== 'string' || !/^[\x21-\x7e]+$/.test(token))
    return { type: 'failed', detail: 'token endpoint sent no usable access_token' };
  const lifetime = Number(body?.['expires_in'] ?? DEFAULT_LIFETIME_S);
  return { type: 'read', token, lifetimeS: Number.isFinite(lifetime) && lifetime > 0 ? lifetime : DEFAULT_LIFETIME_S };
};

const parseJson = (body: Buffer): Record<string, unknown> | null => {
  try {
    const value: unknown = JSON.parse(body.toString());
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : null;
  } catch {
    return null;
  }
};

const within = async (result: Promise<TokenResult>, ms: number): Promise<TokenResult> => {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<TokenResult>((resolve) => {
    timer = setTimeout(resolve, Math.max(0, ms), {
      type: 'failed',
      detail: 'no token within the deadline of the attempt',
    });
  });
  try {
    return await Promise.race([result, late]);
  } finally {
    clearTimeout(timer);
  }
};
