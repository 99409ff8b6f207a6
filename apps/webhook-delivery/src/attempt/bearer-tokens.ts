import type { BearerAuth } from '@waypost/domain';
import { waitFor, type AttemptWait } from './attempt-wait.js';
import { createTokenEntries, newTokenEntry, type TokenEntry } from './token-entries.js';
import { requestToken, type TokenAnswer, type TokenRequestOptions } from './token-request.js';
import type { IssuedToken, TokenResult } from './token-result.js';

/** Bearer tokens by OAuth2 client credentials: one a subscription, shared by all its deliveries. */
export interface BearerTokens {
  /** The token at hand. */
  cached(subscriptionId: string, auth: BearerAuth): IssuedToken | undefined;
  /** The same, or a new one. Concurrent needs share one request; the wait bounds this caller, not the request. */
  tokenFor(subscriptionId: string, auth: BearerAuth, wait: AttemptWait): Promise<TokenResult>;
  /** After a 401. One that has been renewed meanwhile stays. */
  discard(subscriptionId: string, issued: IssuedToken): void;
  /** Subscriptions about which something is kept. */
  readonly size: number;
}

export interface BearerTokensOptions extends TokenRequestOptions {
  /** Subscriptions to keep tokens of; beyond, the one that asked longest ago is forgotten. Default 20,000. */
  readonly maxSubscriptions?: number;
}

const EXPIRY_MARGIN_MS = 60_000;
/** A token whose lifetime is below the margin still serves those who need one at the same time. */
const MIN_USE_MS = 1_000;
const FIRST_PAUSE_MS = 1_000;
const MAX_PAUSE_MS = 15_000;
/** Of a token endpoint that has failed, one attempt may find out for its whole deadline; the others wait no longer than this. */
const WAIT_WHILE_FAILING_MS = 250;

export const createBearerTokens = (options: BearerTokensOptions): BearerTokens => {
  const { now, maxSubscriptions = 20_000 } = options;
  const entries = createTokenEntries(maxSubscriptions);

  const ask = (subscriptionId: string, entry: TokenEntry): Promise<TokenResult> => {
    entries.keep(subscriptionId, entry);
    const askedAt = now();
    entry.request = requestToken(options, subscriptionId, entry.auth)
      .then((answer) => takeAnswer(entry, answer, { askedAt, nowMs: now() }))
      .finally(() => {
        entry.request = undefined;
      });
    return entry.request;
  };

  /** The running request, a new one, or none while the endpoint is left alone; and how long this caller waits for it. */
  const need = (subscriptionId: string, auth: BearerAuth, withinMs: number) => {
    const entry = entries.find(subscriptionId, auth) ?? newTokenEntry(auth);
    if (entry.request !== undefined) {
      const waitMs = entry.failures > 0 ? Math.min(withinMs, WAIT_WHILE_FAILING_MS) : withinMs;
      return { result: entry.request, withinMs: waitMs };
    }
    return { result: entry.askAgainAt > now() ? leftAlone(entry) : ask(subscriptionId, entry), withinMs };
  };

  const cached = (subscriptionId: string, auth: BearerAuth): IssuedToken | undefined => {
    const issued = entries.find(subscriptionId, auth)?.issued;
    return issued !== undefined && issued.validUntil > now() ? issued : undefined;
  };

  return {
    cached,
    tokenFor: async (subscriptionId, auth, { withinMs, signal }) => {
      const issued = cached(subscriptionId, auth);
      if (issued !== undefined) return { type: 'token', issued };
      const needed = need(subscriptionId, auth, withinMs);
      const waited = await waitFor(needed.result, { withinMs: needed.withinMs, signal });
      if (waited.type === 'value') return waited.value;
      if (waited.type === 'aborted') return { type: 'aborted' };
      return { type: 'failed', detail: 'the token endpoint did not answer in time' };
    },
    discard: (subscriptionId, issued) => {
      const entry = entries.any(subscriptionId);
      if (entry?.issued === issued) entry.issued = undefined;
    },
    get size() {
      return entries.size;
    },
  };
};

interface AnswerTimes {
  readonly askedAt: number;
  readonly nowMs: number;
}

const takeAnswer = (entry: TokenEntry, answer: TokenAnswer, times: AnswerTimes): TokenResult => {
  if (answer.type === 'issued') {
    const issued = { authorization: `Bearer ${answer.token}`, validUntil: validUntil(answer.lifetimeMs, times) };
    entry.issued = issued;
    entry.failures = 0;
    return { type: 'token', issued };
  }
  entry.failures += 1;
  entry.lastFailure = answer.detail;
  entry.askAgainAt = times.nowMs + Math.max(pauseMs(entry.failures), Math.min(answer.retryAfterMs, MAX_PAUSE_MS));
  return { type: 'failed', detail: answer.detail };
};

/** The lifetime counts from the request on: when the endpoint began to count is not known. */
const validUntil = (lifetimeMs: number, { askedAt, nowMs }: AnswerTimes): number =>
  Math.max(askedAt + lifetimeMs - EXPIRY_MARGIN_MS, nowMs + MIN_USE_MS);

/** 1, 2, 4, 8, 15, 15, ... s. */
const pauseMs = (failures: number): number => Math.min(FIRST_PAUSE_MS * 2 ** (failures - 1), MAX_PAUSE_MS);

const leftAlone = ({ lastFailure }: TokenEntry): Promise<TokenResult> =>
  Promise.resolve({ type: 'failed', detail: `${lastFailure}; it is asked again within 15 s` });
