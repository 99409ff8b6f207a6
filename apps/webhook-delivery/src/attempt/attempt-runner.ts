import {
  signatureHeaders,
  type AttemptResult,
  type BearerAuth,
  type WebhookDelivery,
  type WebhookSubscription,
} from '@waypost/domain';
import { DEFAULT_DEADLINE_MS, type AbortGroup, type EgressClient, type EgressResult } from '@waypost/egress';
import type { SubscriptionDirectory } from '../subscriptions/subscription-directory.js';
import { waitFor } from './attempt-wait.js';
import type { BearerTokens } from './bearer-tokens.js';
import { createKnownSubscriptions } from './known-subscriptions.js';
import { createSigningKeys } from './signing-keys.js';
import type { IssuedToken } from './token-result.js';

export interface AttemptRequest {
  readonly delivery: WebhookDelivery;
  readonly attempt: number;
  readonly startedAt: number;
  /** Ends the waits of the attempt. */
  readonly signal: AbortSignal;
  /** Ends its POST; for thousands in flight it costs less than a signal does. Without it the signal does that too. */
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
  /** Given up because this process stops: it never happened, as far as the log knows. */
  | { readonly type: 'aborted' };

/** Makes one attempt: look up, sign, authenticate, POST. Never rejects for what the network does. */
export interface AttemptRunner {
  run(request: AttemptRequest): Promise<AttemptRun>;
}

export interface AttemptRunnerOptions {
  readonly directory: SubscriptionDirectory;
  readonly egress: EgressClient;
  readonly tokens: BearerTokens;
  readonly sealingKey: Buffer;
  readonly now: () => number;
}

/** One deadline, from the attempt's start, covers all of an attempt: also its waits for a subscription and a token. */
const leftMs = ({ startedAt }: AttemptRequest, nowMs: number): number => startedAt + DEFAULT_DEADLINE_MS - nowMs;

export const createAttemptRunner = (options: AttemptRunnerOptions): AttemptRunner => {
  const { directory, egress, tokens, sealingKey, now } = options;
  const signingKeys = createSigningKeys(sealingKey);
  const subscriptions = createKnownSubscriptions(directory);

  const send = async (
    request: AttemptRequest,
    subscription: WebhookSubscription,
    issued: IssuedToken | null,
  ): Promise<AttemptRun> => {
    const { delivery, attempt, startedAt, signal, abortGroup } = request;
    const { eventId, body } = delivery;
    const secrets = signingKeys(subscription, startedAt);
    if (secrets.length === 0) return ended(subscription, UNREADABLE_SECRET);
    const deadlineMs = leftMs(request, now());
    if (deadlineMs <= 0) return ended(subscription, NO_TIME_LEFT);
    const headers = signatureHeaders({ secrets, eventId, body, attempt, nowMs: startedAt });
    headers['content-type'] = 'application/json';
    if (issued !== null) headers['authorization'] = issued.authorization;
    const post = { url: subscription.url, headers, body, deadlineMs, keepBody: false };
    const result = await egress.post(abortGroup ? { ...post, abortGroup } : { ...post, signal });
    if (result.type === 'aborted') return ABORTED;
    if (issued === null) return ended(subscription, attemptResult(result));
    return ended(subscription, attemptResult(result), () => {
      tokens.discard(subscription.id, issued);
    });
  };

  const sendWithToken = async (
    request: AttemptRequest,
    subscription: WebhookSubscription,
    auth: BearerAuth,
  ): Promise<AttemptRun> => {
    // Without a signature there is nothing to send, so no token to ask for.
    if (signingKeys(subscription, request.startedAt).length === 0) return ended(subscription, UNREADABLE_SECRET);
    const wait = { withinMs: leftMs(request, now()), signal: request.signal };
    const found = await tokens.tokenFor(subscription.id, auth, wait);
    if (found.type === 'token') return send(request, subscription, found.issued);
    return found.type === 'aborted' ? ABORTED : ended(subscription, failure('token_error', found.detail));
  };

  const post = (request: AttemptRequest, subscription: WebhookSubscription): Promise<AttemptRun> => {
    const { id, auth } = subscription;
    if (auth === null) return send(request, subscription, null);
    const issued = tokens.cached(id, auth);
    return issued === undefined ? sendWithToken(request, subscription, auth) : send(request, subscription, issued);
  };

  /** The delivery may have been made by an instance that was ahead of this one. */
  const postOnceKnown = async (request: AttemptRequest): Promise<AttemptRun> => {
    const { subscriptionId } = request.delivery;
    const wait = { withinMs: leftMs(request, now()), signal: request.signal };
    const waited = await waitFor(subscriptions.find(subscriptionId), wait);
    if (waited.type === 'aborted') return ABORTED;
    if (waited.type === 'late') return nowhere(UNKNOWN_SUBSCRIPTION);
    return waited.value === undefined ? nowhere(DELETED_SUBSCRIPTION) : post(request, waited.value);
  };

  return {
    run: (request) => {
      const subscription = directory.get(request.delivery.subscriptionId);
      return subscription === undefined ? postOnceKnown(request) : post(request, subscription);
    },
  };
};

const failure = (errorCode: Extract<AttemptResult, { type: 'error' }>['errorCode'], detail: string): AttemptResult =>
  Object.freeze({ type: 'error', errorCode, detail });

const UNREADABLE_SECRET = failure('secret_unreadable', 'no signing secret can be opened with the configured key');
const NO_TIME_LEFT = failure('timeout', 'the time of the attempt was over before its request could be sent');
const UNKNOWN_SUBSCRIPTION = failure('subscription_unknown', 'the subscriptions could not be read within the attempt');
const DELETED_SUBSCRIPTION = failure('subscription_deleted', 'the subscription was deleted before this attempt');
const ABORTED: AttemptRun = Object.freeze({ type: 'aborted' });
const nothingToDiscard = (): void => undefined;

const ended = (
  { url, auth }: WebhookSubscription,
  result: AttemptResult,
  discardToken = nothingToDiscard,
): AttemptRun => ({ type: 'ended', url, auth: auth === null ? 'none' : 'bearer', result, discardToken });

const nowhere = (result: AttemptResult): AttemptRun => ({
  type: 'ended',
  url: '',
  auth: 'none',
  result,
  discardToken: nothingToDiscard,
});

const attemptResult = (result: Exclude<EgressResult, { type: 'aborted' }>): AttemptResult =>
  result.type === 'response'
    ? { type: 'response', statusCode: result.statusCode, retryAfter: result.headers['retry-after'] ?? null }
    : result;
