import { ATTEMPT_DEADLINE_MS, type BearerAuth, openClientSecret, parseRetryAfter } from '@waypost/domain';
import type { EgressClient, EgressResult, RequestOwner } from '@waypost/egress';

export type TokenAnswer =
  | {
      readonly type: 'issued';
      readonly token: string;
      /** As reported by the endpoint; may be 0 or less. */
      readonly lifetimeMs: number;
    }
  | {
      readonly type: 'failed';
      /** Readable by humans; contains no secret and nothing from the response, which may hold one. */
      readonly detail: string;
      /** The Retry-After of the endpoint; 0: none. */
      readonly retryAfterMs: number;
    }
  | WithdrawnRequest;

/** The request was not sent because it was no longer wanted. */
export interface WithdrawnRequest {
  readonly type: 'withdrawn';
}

export interface TokenRequestOptions {
  readonly egress: EgressClient;
  readonly sealingKeys: readonly Buffer[];
  readonly nowMs: () => number;
}

/** Used if a token endpoint reports no readable lifetime. */
const DEFAULT_LIFETIME_MS = 300_000;
const MAX_RESPONSE_BYTES = 16_384;
/** Few servers accept a longer header. */
const MAX_TOKEN_BYTES = 8_192;
/** Matches tokens that are safe in an `Authorization: Bearer` header: visible ASCII, no spaces, no line ends. */
const USABLE_TOKEN = /^[\x21-\x7e]+$/;

/**
 * Makes one token request by OAuth2 client credentials (RFC 6749, 4.4). Never rejects for network failures.
 * @param isWanted asked right before the request is written, after its wait for a connection, and if it got none
 */
export async function requestToken(
  { egress, sealingKeys, nowMs }: TokenRequestOptions,
  owner: RequestOwner,
  auth: BearerAuth,
  isWanted: () => boolean,
): Promise<TokenAnswer> {
  const secret = openClientSecret(auth.sealedClientSecret, sealingKeys, owner.id);
  if (secret.type !== 'opened') return failed('the client secret cannot be opened with the configured key');
  const clientSecret = secret.plaintext.toString();
  const { clientId, scope, audience } = auth;
  let isWithdrawn = false as boolean;
  const isInBody = auth.tokenAuthMethod === 'client_secret_post';
  const answer = await egress.post({
    url: auth.tokenUrl,
    headers: {
      ...(isInBody ? {} : { authorization: basicAuthorization(clientId, clientSecret) }),
      'content-type': 'application/x-www-form-urlencoded',
      accept: 'application/json',
    },
    body: new URLSearchParams({
      grant_type: 'client_credentials',
      ...(isInBody ? { client_id: clientId, client_secret: clientSecret } : {}),
      ...(scope === null ? {} : { scope }),
      ...(audience === null ? {} : { audience }),
    }).toString(),
    owner,
    deadlineMs: ATTEMPT_DEADLINE_MS,
    maxResponseBytes: MAX_RESPONSE_BYTES,
    isWanted: () => !(isWithdrawn = !isWanted()),
  });
  if (answer.type === 'error' && answer.isUnsent === true) isWithdrawn = !isWanted();
  return isWithdrawn ? { type: 'withdrawn' } : readTokenAnswer(answer, nowMs());
}

/** RFC 6749, 2.3.1: both parts are form-encoded before they are joined. */
function basicAuthorization(clientId: string, clientSecret: string): string {
  const encoded = `${encodeURIComponent(clientId)}:${encodeURIComponent(clientSecret)}`;
  return `Basic ${Buffer.from(encoded).toString('base64')}`;
}

function readTokenAnswer(answer: EgressResult, nowMs: number): TokenAnswer {
  if (answer.type === 'aborted') return failed('the token request was aborted');
  if (answer.type === 'error') return failed(`token endpoint: ${answer.errorCode}`);
  const { statusCode, headers, truncated } = answer;
  if (statusCode < 200 || statusCode > 299) {
    const retryAfterMs = parseRetryAfter(headers['retry-after'] ?? '', nowMs) ?? 0;
    return failed(`token endpoint answered ${String(statusCode)}`, retryAfterMs);
  }
  if (truncated)
    return failed(`the token endpoint's answer is longer than ${String(MAX_RESPONSE_BYTES)} bytes or was cut off`);
  const body = parseObject(answer.body);
  if (body === null) return failed("the token endpoint's answer is not a JSON object");
  const { access_token: token, token_type: type, expires_in: expiresIn } = body;
  if (typeof token !== 'string' || !USABLE_TOKEN.test(token))
    return failed('token endpoint sent no usable access_token');
  if (token.length > MAX_TOKEN_BYTES) return failed(`the access_token is longer than ${String(MAX_TOKEN_BYTES)} bytes`);
  // A token of an unknown type must not be used (RFC 6749, 7.1). Many endpoints omit the type.
  if (typeof type === 'string' && !/^bearer/i.test(type)) return failed('the token endpoint issues no bearer tokens');
  return { type: 'issued', token, lifetimeMs: lifetimeMsOf(expiresIn) };
}

/** Some endpoints send the number as a string. */
function lifetimeMsOf(expiresIn: unknown): number {
  const text = typeof expiresIn === 'number' ? String(expiresIn) : expiresIn;
  if (typeof text !== 'string' || text.trim() === '') return DEFAULT_LIFETIME_MS;
  const seconds = Number(text);
  return Number.isFinite(seconds) ? seconds * 1000 : DEFAULT_LIFETIME_MS;
}

interface TokenFields {
  readonly access_token?: unknown;
  readonly token_type?: unknown;
  readonly expires_in?: unknown;
}

function parseObject(body: Buffer): TokenFields | null {
  try {
    const value: unknown = JSON.parse(body.toString());
    return typeof value === 'object' && value !== null ? value : null;
  } catch {
    return null;
  }
}

function failed(detail: string, retryAfterMs = 0): TokenAnswer {
  return { type: 'failed', detail, retryAfterMs };
}
