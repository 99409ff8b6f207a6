import type { BearerAuth } from '@waypost/domain';
import type { RequestOwner } from '@waypost/egress';
import type { Clocks } from '../process/clocks.js';
import { type AttemptWait, waitFor } from '../process/waits.js';
import { originOf } from '../shares/reservations.js';
import type { SharedPermits } from '../shares/shared-permits.js';
import type { DirectorySubscription } from '../subscriptions/subscription-directory.js';
import {
  type IssuedToken,
  newTokenEntry,
  type RequestedToken,
  type RequestResult,
  sameAuth,
  TokenEntries,
  type TokenEntry,
} from './token-entries.js';
import { requestToken, type TokenAnswer, type TokenRequestOptions, type WithdrawnRequest } from './token-request.js';

/** Bearer tokens by OAuth2 client credentials: one per subscription, shared by all its deliveries. */
export abstract class BearerTokens {
  abstract cached(subscriptionId: string, auth: BearerAuth): IssuedToken | undefined;
  /** Returns the cached token or a new one. Concurrent callers share one request; `wait` limits the caller, not the request. */
  abstract tokenFor(subscriptionId: string, auth: BearerAuth, wait: AttemptWait): Promise<TokenResult>;
  /** Call after a 401. A token renewed since then is kept. */
  abstract discard(subscriptionId: string, issued: IssuedToken): void;
  /** The number of subscriptions with an entry. */
  abstract readonly size: number;
}

export interface BearerTokensOptions extends TokenRequestOptions, Clocks {
  /** One for each request. */
  readonly permits: Pick<SharedPermits, 'during'>;
  readonly fleetOf: (subscriptionId: string) => string;
  /** Whether the subscription still needs a token of this client. Called when the request's turn has come, and before it is written. */
  readonly isWanted: (subscriptionId: string, auth: BearerAuth) => boolean;
  /** 20,000 by default. */
  readonly maxSubscriptions?: number;
  /** The memory for tokens, 32 MiB by default. */
  readonly maxBytes?: number;
}

/** a token is replaced this long before it expires. */
const EXPIRY_MARGIN_MS = 60_000;
/** A token whose lifetime is below the margin still serves concurrent attempts. */
const MIN_USE_MS = 1_000;
const FIRST_BACK_OFF_MS = 1_000;
const MAX_BACK_OFF_MS = 15_000;
/** While a token endpoint fails, one attempt may wait for its whole deadline; the others wait at most this long. */
const WAIT_WHILE_FAILING_MS = 250;

const NOT_ANSWERED = 'the token endpoint did not answer in time';
const NOT_REQUESTED = 'no token was requested in time, because too many other token requests are unanswered';
const WITHDRAWN: WithdrawnRequest = Object.freeze({ type: 'withdrawn' });

export class ClientCredentialsTokens implements BearerTokens {
  private readonly entries: TokenEntries;

  constructor(private readonly options: BearerTokensOptions) {
    const { monotonicMs, maxSubscriptions = 20_000, maxBytes = 32 * 1_048_576 } = options;
    this.entries = new TokenEntries({ maxSubscriptions, maxBytes, monotonicMs });
  }

  get size(): number {
    return this.entries.size;
  }

  cached(subscriptionId: string, auth: BearerAuth): IssuedToken | undefined {
    return this.entries.valid(this.entries.find(subscriptionId, auth));
  }

  async tokenFor(subscriptionId: string, auth: BearerAuth, { withinMs, signal }: AttemptWait): Promise<TokenResult> {
    const { monotonicMs } = this.options;
    const untilMs = monotonicMs() + withinMs;
    do {
      const issued = this.cached(subscriptionId, auth);
      if (issued !== undefined) return { type: 'token', issued };
      const pending = this.pendingToken(subscriptionId, auth, untilMs - monotonicMs());
      const waited = await waitFor(pending.result, { withinMs: pending.withinMs, signal });
      if (waited.type === 'aborted') return { type: 'aborted' };
      if (waited.type === 'late') return tooLate(pending.entry);
      if (waited.value.type !== 'withdrawn') return waited.value;
      // Withdrawn while still wanted: there was a token, which may have been discarded since.
    } while (this.options.isWanted(subscriptionId, auth));
    return { type: 'changed' };
  }

  discard(subscriptionId: string, issued: IssuedToken): void {
    const entry = this.entries.any(subscriptionId);
    if (entry?.issued === issued) this.entries.issue(entry, undefined);
  }

  /** The request in flight, a new one, or a failure during the back-off, and how long this caller waits for it. */
  private pendingToken(subscriptionId: string, auth: BearerAuth, withinMs: number): PendingToken {
    const entry = this.entries.find(subscriptionId, auth) ?? newTokenEntry(subscriptionId, auth);
    if (entry.request !== undefined) {
      const waitMs = entry.failures > 0 ? Math.min(withinMs, WAIT_WHILE_FAILING_MS) : withinMs;
      return { entry, result: entry.request, withinMs: waitMs };
    }
    const result = entry.retryMs > this.options.monotonicMs() ? inBackOff(entry) : this.request(entry);
    return { entry, result, withinMs };
  }

  private request(entry: TokenEntry): Promise<RequestResult> {
    const { permits, fleetOf } = this.options;
    const owner = { id: entry.subscriptionId, fleetId: fleetOf(entry.subscriptionId) };
    this.entries.keep(entry, owner.fleetId);
    entry.hasPlace = false;
    entry.request = permits
      .during(owner, originOf(entry.auth.tokenUrl), () => this.requestInPlace(entry, owner))
      .finally(() => {
        entry.request = undefined;
      });
    return entry.request;
  }

  /** Call when the request's turn has come. */
  private async requestInPlace(entry: TokenEntry, owner: RequestOwner): Promise<RequestResult> {
    entry.hasPlace = true;
    const requestedMs = this.options.monotonicMs();
    const isNeeded = (): boolean => this.isNeeded(entry);
    const answer = isNeeded() ? await requestToken(this.options, owner, entry.auth, isNeeded) : WITHDRAWN;
    if (answer.type === 'withdrawn') return answer;
    return this.apply(entry, answer, { requestedMs, answeredMs: this.options.monotonicMs() });
  }

  /**
   * While a request waits, another entry for the same client may take its place (after an eviction, or a change and
   * back) and get a token.
   */
  private isNeeded({ subscriptionId, auth }: TokenEntry): boolean {
    return this.options.isWanted(subscriptionId, auth) && this.cached(subscriptionId, auth) === undefined;
  }

  private apply(entry: TokenEntry, answer: Exclude<TokenAnswer, WithdrawnRequest>, times: AnswerTimes): RequestedToken {
    if (answer.type === 'issued') {
      const issued = { authorization: `Bearer ${answer.token}`, validUntilMs: validUntilMs(answer.lifetimeMs, times) };
      this.entries.issue(entry, issued);
      entry.failures = 0;
      return { type: 'token', issued };
    }
    entry.failures += 1;
    entry.lastFailure = answer.detail;
    entry.retryMs =
      times.answeredMs + Math.max(backOffMs(entry.failures), Math.min(answer.retryAfterMs, MAX_BACK_OFF_MS));
    return { type: 'failed', detail: answer.detail };
  }
}

interface PendingToken {
  readonly entry: TokenEntry;
  readonly result: Promise<RequestResult>;
  readonly withinMs: number;
}

/** Monotonic. */
interface AnswerTimes {
  readonly requestedMs: number;
  readonly answeredMs: number;
}

/** The lifetime counts from the request, since it is unknown when the endpoint started counting. */
function validUntilMs(lifetimeMs: number, { requestedMs, answeredMs }: AnswerTimes): number {
  return Math.max(requestedMs + lifetimeMs - EXPIRY_MARGIN_MS, answeredMs + MIN_USE_MS);
}

/** 1, 2, 4, 8, 15, 15, ... s. */
function backOffMs(failures: number): number {
  return Math.min(FIRST_BACK_OFF_MS * 2 ** (failures - 1), MAX_BACK_OFF_MS);
}

function tooLate({ hasPlace }: TokenEntry): TokenResult {
  return { type: 'failed', detail: hasPlace ? NOT_ANSWERED : NOT_REQUESTED };
}

function inBackOff({ lastFailure }: TokenEntry): Promise<RequestResult> {
  return Promise.resolve({ type: 'failed', detail: `${lastFailure}; the next request follows within 15 s` });
}

export type TokenResult =
  | RequestedToken
  /** The subscription no longer wants a token of this client: none was requested. */
  | { readonly type: 'changed' }
  /** The process stops. */
  | { readonly type: 'aborted' };

/** An old client secret must not go to a token URL that its owner has given up. */
export function wantsToken(subscription: DirectorySubscription | undefined, auth: BearerAuth): boolean {
  return subscription?.status === 'active' && subscription.auth !== null && sameAuth(subscription.auth, auth);
}
