import {
  type AttemptResult,
  type BearerAuth,
  signatureHeaders,
  TRACEPARENT,
  TRACESTATE,
  type WebhookDelivery,
} from '@waypost/domain';
import { type AbortGroup, DEFAULT_DEADLINE_MS, type EgressClient, type EgressResult } from '@waypost/egress';
import { waitFor } from '../common/waits.js';
import type { DirectorySubscription, SubscriptionDirectory } from '../subscriptions/subscription-directory.js';
import type { BearerTokens, IssuedToken } from './bearer-tokens.js';
import { createSecretOpener } from './open-secrets.js';

export interface AttemptRequest {
  readonly delivery: WebhookDelivery;
  /** The trace context for the receiver. */
  readonly traceparent: string;
  /** As its producer sent it; null: none. */
  readonly tracestate: string | null;
  readonly attempt: number;
  readonly startedAt: number;
  /** Ends the waits before the POST. */
  readonly signal: AbortSignal;
  /** Ends the POST; cheaper than a signal for thousands in flight. Without it the signal ends the POST too. */
  readonly abortGroup?: AbortGroup;
}

export type AttemptRun =
  | {
      readonly type: 'ended';
      readonly url: string;
      readonly auth: 'none' | 'bearer';
      readonly result: AttemptResult;
      /** The token that was used must not be used again. */
      readonly discardToken: () => void;
    }
  /** The process stops. Nothing is logged: the successor makes this attempt again. */
  | { readonly type: 'aborted' };

/** Makes one attempt: look up, sign, authenticate, POST. Never rejects for network failures. */
export abstract class AttemptRunner {
  abstract run(request: AttemptRequest): Promise<AttemptRun>;
}

export interface AttemptRunnerOptions {
  readonly directory: Pick<SubscriptionDirectory, 'get' | 'caughtUp'>;
  readonly egress: EgressClient;
  readonly tokens: BearerTokens;
  readonly sealingKeys: readonly Buffer[];
  readonly now: () => number;
}

/** One deadline covers the whole attempt, including its waits for a subscription and a token. */
function leftMs({ startedAt }: AttemptRequest, nowMs: number): number {
  return startedAt + DEFAULT_DEADLINE_MS - nowMs;
}

/** R-19, but for those of a token. Ours replace any of the owner's that have their names. */
function headersOf(
  { delivery, traceparent, tracestate, attempt, startedAt }: AttemptRequest,
  secrets: readonly Buffer[],
  custom: Readonly<Record<string, string>>,
): Record<string, string> {
  const { eventId, body, subscriptionId } = delivery;
  const headers = { ...custom, ...signatureHeaders({ secrets, eventId, body, attempt, nowMs: startedAt }) };
  headers['content-type'] = 'application/json';
  headers['x-service-subscription-id'] = subscriptionId;
  headers[TRACEPARENT] = traceparent;
  if (tracestate !== null) headers[TRACESTATE] = tracestate;
  return headers;
}

export function createAttemptRunner(options: AttemptRunnerOptions): AttemptRunner {
  const { directory, egress, tokens, sealingKeys, now } = options;
  const openSecrets = createSecretOpener(sealingKeys);
  const subscriptions = createKnownSubscriptions(directory);

  const send = async (
    request: AttemptRequest,
    subscription: DirectorySubscription,
    issued: IssuedToken | null,
  ): Promise<AttemptRun> => {
    const { delivery, startedAt, signal, abortGroup } = request;
    const opened = openSecrets(subscription, startedAt);
    if (opened.type === 'unreadable') return ended(subscription, opened.result);
    const { signing, custom, identity } = opened;
    const deadlineMs = leftMs(request, now());
    if (deadlineMs <= 0) return ended(subscription, NO_TIME_LEFT);
    const headers = headersOf(request, signing, custom);
    if (issued !== null) headers['authorization'] = issued.authorization;
    const post = { url: subscription.url, headers, body: delivery.body, identity, deadlineMs, keepBody: false };
    const result = await egress.post(abortGroup ? { ...post, abortGroup } : { ...post, signal });
    if (result.type === 'aborted') return ABORTED;
    if (issued === null) return ended(subscription, attemptResult(result));
    return ended(subscription, attemptResult(result), () => {
      tokens.discard(subscription.id, issued);
    });
  };

  const sendWithToken = async (
    request: AttemptRequest,
    subscription: DirectorySubscription,
    auth: BearerAuth,
  ): Promise<AttemptRun> => {
    // Nothing is sent without them, so no token is needed.
    const opened = openSecrets(subscription, request.startedAt);
    if (opened.type === 'unreadable') return ended(subscription, opened.result);
    const wait = { withinMs: leftMs(request, now()), signal: request.signal };
    const found = await tokens.tokenFor(subscription.id, auth, wait);
    if (found.type === 'token') return send(request, subscription, found.issued);
    return found.type === 'aborted' ? ABORTED : ended(subscription, failure('token_error', found.detail));
  };

  const post = (request: AttemptRequest, subscription: DirectorySubscription): Promise<AttemptRun> => {
    const { id, auth, status } = subscription;
    // What waited when the subscription was disabled ends without a request.
    if (status === 'disabled') return Promise.resolve(ended(subscription, DISABLED_SUBSCRIPTION));
    if (auth === null) return send(request, subscription, null);
    const issued = tokens.cached(id, auth);
    return issued === undefined ? sendWithToken(request, subscription, auth) : send(request, subscription, issued);
  };

  /** The fan-out instance that made the delivery may have read more subscriptions than this one has. */
  const postWhenKnown = async (request: AttemptRequest): Promise<AttemptRun> => {
    const { subscriptionId } = request.delivery;
    const wait = { withinMs: leftMs(request, now()), signal: request.signal };
    const waited = await waitFor(subscriptions.find(subscriptionId), wait);
    if (waited.type === 'aborted') return ABORTED;
    if (waited.type === 'late') return endedWithoutUrl(UNKNOWN_SUBSCRIPTION);
    return waited.value === undefined ? endedWithoutUrl(DELETED_SUBSCRIPTION) : post(request, waited.value);
  };

  return {
    run: (request) => {
      const subscription = directory.get(request.delivery.subscriptionId);
      return subscription === undefined ? postWhenKnown(request) : post(request, subscription);
    },
  };
}

function failure(errorCode: Extract<AttemptResult, { type: 'error' }>['errorCode'], detail: string): AttemptResult {
  return Object.freeze({ type: 'error', errorCode, detail });
}

const NO_TIME_LEFT = failure('timeout', 'the deadline of the attempt passed before its request could be sent');
const UNKNOWN_SUBSCRIPTION = failure('subscription_unknown', 'the subscriptions could not be read within the attempt');
const DELETED_SUBSCRIPTION = failure('subscription_deleted', 'the subscription was deleted before this attempt');
const DISABLED_SUBSCRIPTION = failure('subscription_disabled', 'the subscription is disabled');
const ABORTED: AttemptRun = Object.freeze({ type: 'aborted' });
function nothingToDiscard(): void {
  // No token was used.
}

function ended(
  { url, auth }: DirectorySubscription,
  result: AttemptResult,
  discardToken = nothingToDiscard,
): AttemptRun {
  return { type: 'ended', url, auth: auth === null ? 'none' : 'bearer', result, discardToken };
}

function endedWithoutUrl(result: AttemptResult): AttemptRun {
  return {
    type: 'ended',
    url: '',
    auth: 'none',
    result,
    discardToken: nothingToDiscard,
  };
}

function attemptResult(result: Exclude<EgressResult, { type: 'aborted' }>): AttemptResult {
  return result.type === 'response'
    ? { type: 'response', statusCode: result.statusCode, retryAfter: result.headers['retry-after'] ?? null }
    : result;
}

/** Finds subscriptions that the directory does not contain (yet). */
export interface KnownSubscriptions {
  /** undefined: deleted. */
  find(subscriptionId: string): Promise<DirectorySubscription | undefined>;
}

const MAX_DELETED = 10_000;

/**
 * The subscription of a delivery was in the topic when the delivery was made: if it is missing once the topic is read to
 * its end, it was deleted, and ids are never reused. The result is remembered, so that a thousand deliveries of a deleted
 * subscription request that end from the broker only once.
 */
export function createKnownSubscriptions(
  directory: Pick<SubscriptionDirectory, 'get' | 'caughtUp'>,
): KnownSubscriptions {
  const deleted = new Set<string>();

  const remember = (subscriptionId: string): void => {
    deleted.add(subscriptionId);
    for (const oldest of deleted) {
      if (deleted.size <= MAX_DELETED) return;
      deleted.delete(oldest);
    }
  };

  return {
    find: async (subscriptionId) => {
      if (deleted.has(subscriptionId)) return undefined;
      await directory.caughtUp();
      const found = directory.get(subscriptionId);
      if (found === undefined) remember(subscriptionId);
      return found;
    },
  };
}
