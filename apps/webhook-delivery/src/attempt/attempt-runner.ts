import {
  openSigningSecret,
  signatureHeaders,
  validSigningSecrets,
  type AttemptResult,
  type WebhookDelivery,
  type WebhookSubscription,
} from '@waypost/domain';
import { DEFAULT_DEADLINE_MS, type EgressClient, type EgressResult } from '@waypost/egress';
import type { SubscriptionDirectory } from '../subscriptions/subscription-directory.js';
import type { BearerTokens } from './bearer-tokens.js';

export interface AttemptRequest {
  readonly delivery: WebhookDelivery;
  readonly attempt: number;
  readonly startedAt: number;
  readonly signal: AbortSignal;
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

export const createAttemptRunner = (options: AttemptRunnerOptions): AttemptRunner => {
  const { directory, egress, tokens, sealingKey, now } = options;
  const opened = new WeakMap<object, Buffer>();

  const signingSecrets = (subscription: WebhookSubscription, nowMs: number): Buffer[] =>
    validSigningSecrets(subscription.secrets, nowMs).flatMap((secret) => {
      const known = opened.get(secret);
      if (known) return [known];
      const result = openSigningSecret(secret.sealed, sealingKey, subscription.id);
      if (result.type !== 'opened') return [];
      opened.set(secret, result.plaintext);
      return [result.plaintext];
    });

  const subscriptionOf = async (subscriptionId: string): Promise<WebhookSubscription | undefined> => {
    const known = directory.get(subscriptionId);
    if (known) return known;
    // The delivery may have been made by an instance that was ahead of this one.
    await directory.caughtUp();
    return directory.get(subscriptionId);
  };

  const post = async (request: AttemptRequest, subscription: WebhookSubscription): Promise<AttemptRun> => {
    const { delivery, attempt, startedAt, signal } = request;
    const { url, auth } = subscription;
    const ended = (result: AttemptResult, discardToken = (): void => undefined): AttemptRun => ({
      ...{ type: 'ended', url, result, discardToken },
      auth: auth ? 'bearer' : 'none',
    });
    const secrets = signingSecrets(subscription, startedAt);
    if (secrets.length === 0)
      return ended(failure('secret_unreadable', 'no signing secret can be opened with the configured key'));
    const deadlineAt = startedAt + DEFAULT_DEADLINE_MS;
    const token = auth ? await tokens.tokenFor(subscription.id, auth, deadlineAt - now()) : null;
    if (token?.type === 'failed') return ended(failure('token_error', token.detail));
    const headers = {
      ...signatureHeaders({ secrets, eventId: delivery.eventId, body: delivery.body, attempt, nowMs: startedAt }),
      'content-type': 'application/json',
      ...(token ? { authorization: `Bearer ${token.token}` } : {}),
    };
    const deadlineMs = Math.max(1, deadlineAt - now());
    const result = await egress.post({ url, headers, body: delivery.body, deadlineMs, signal });
    if (result.type === 'aborted') return { type: 'aborted' };
    return ended(attemptResult(result), () => {
      if (token) tokens.discard(subscription.id, token.token);
    });
  };

  return {
    run: async (request) => {
      const subscription = await subscriptionOf(request.delivery.subscriptionId);
      if (subscription) return post(request, subscription);
      const result = failure('subscription_deleted', 'the subscription was deleted before this attempt');
      return { type: 'ended', url: '', auth: 'none', result, discardToken: () => undefined };
    },
  };
};

const failure = (errorCode: Extract<AttemptResult, { type: 'error' }>['errorCode'], detail: string): AttemptResult => ({
  type: 'error',
  errorCode,
  detail,
});

const attemptResult = (result: Exclude<EgressResult, { type: 'aborted' }>): AttemptResult =>
  result.type === 'response'
    ? { type: 'response', statusCode: result.statusCode, retryAfter: result.headers['retry-after'] ?? null }
    : result;
