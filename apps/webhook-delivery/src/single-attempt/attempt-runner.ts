import { Inject, Injectable } from '@nestjs/common';
import {
  ATTEMPT_DEADLINE_MS,
  type AttemptResult,
  type BearerAuth,
  DELIVERY_HEADER,
  signatureHeaders,
  type WebhookDelivery,
} from '@waypost/domain';
import { type AbortGroup, EgressClient, type EgressResult } from '@waypost/egress';
import { CONFIG, MONOTONIC_CLOCK } from '@waypost/platform';
import type { WebhookDeliveryConfig } from '../config.js';
import type { Moment } from '../process/clocks.js';
import { type AttemptWait, waitFor } from '../process/waits.js';
import { type DirectorySubscription, SubscriptionDirectory } from '../subscriptions/subscription-directory.js';
import { BearerTokens } from './bearer-tokens.js';
import { createKnownSubscriptions } from './known-subscriptions.js';
import { createSecretOpener } from './open-secrets.js';
import type { IssuedToken } from './token-entries.js';
import { withoutSecrets } from './without-secrets.js';

export interface AttemptRequest {
  readonly delivery: WebhookDelivery;
  /** The trace context for the receiver. */
  readonly traceparent: string;
  /** The header as its producer sent it; null: none. */
  readonly tracestate: string | null;
  readonly attempt: number;
  readonly started: Moment;
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
      /** Discards the token of this attempt. */
      readonly discardToken: () => void;
    }
  /** The process stops. Nothing is logged: the successor makes this attempt again. */
  | { readonly type: 'aborted' }
  /** The subscription was paused while the attempt waited for a token or a connection, so it was not made. */
  | { readonly type: 'paused' };

/** Makes one attempt: look up, sign, authenticate, POST. Never rejects for network failures. */
export abstract class AttemptRunner {
  abstract run(request: AttemptRequest): Promise<AttemptRun>;
}

/** All headers except the token's. Ours replace the owner's headers of the same name. */
function headersOf(
  { delivery, traceparent, tracestate, attempt, started }: AttemptRequest,
  secrets: readonly Buffer[],
  custom: Readonly<Record<string, string>>,
): Record<string, string> {
  const { eventId, body, subscriptionId } = delivery;
  const headers = { ...custom, ...signatureHeaders({ secrets, eventId, body, attempt, nowMs: started.epochMs }) };
  headers['content-type'] = 'application/json';
  headers[DELIVERY_HEADER.subscriptionId] = subscriptionId;
  headers[DELIVERY_HEADER.traceparent] = traceparent;
  if (tracestate !== null) headers[DELIVERY_HEADER.tracestate] = tracestate;
  return headers;
}

@Injectable()
export class SignedPosts implements AttemptRunner {
  private readonly openSecrets;
  private readonly subscriptions;

  constructor(
    @Inject(SubscriptionDirectory)
    private readonly directory: Pick<SubscriptionDirectory, 'get' | 'isPaused' | 'caughtUp'>,
    private readonly egress: EgressClient,
    private readonly tokens: BearerTokens,
    @Inject(CONFIG) { sealingKeys }: Pick<WebhookDeliveryConfig, 'sealingKeys'>,
    @Inject(MONOTONIC_CLOCK) private readonly monotonicMs: () => number,
  ) {
    this.openSecrets = createSecretOpener(sealingKeys);
    this.subscriptions = createKnownSubscriptions(directory);
  }

  run(request: AttemptRequest): Promise<AttemptRun> {
    const subscription = this.directory.get(request.delivery.subscriptionId);
    return subscription === undefined ? this.postWhenKnown(request) : this.post(request, subscription);
  }

  /** The fan-out instance that made the delivery may have read more subscriptions than this one has. */
  private async postWhenKnown(request: AttemptRequest): Promise<AttemptRun> {
    const waited = await waitFor(this.subscriptions.find(request.delivery.subscriptionId), this.waitOf(request));
    if (waited.type === 'aborted') return ABORTED;
    if (waited.type === 'late') return endedWithoutUrl(UNKNOWN_SUBSCRIPTION);
    if (waited.value !== undefined) return this.post(request, waited.value);
    const isPaused = this.directory.isPaused(request.delivery.subscriptionId);
    return isPaused ? PAUSED : endedWithoutUrl(DELETED_SUBSCRIPTION);
  }

  private post(request: AttemptRequest, subscription: DirectorySubscription): Promise<AttemptRun> {
    const { id, auth } = subscription;
    const unsent = this.unsentRun(subscription);
    if (unsent !== null) return Promise.resolve(unsent);
    if (auth === null) return this.send(request, subscription, null);
    const issued = this.tokens.cached(id, auth);
    if (issued === undefined) return this.sendWithToken(request, subscription, auth);
    return this.send(request, subscription, issued);
  }

  private async sendWithToken(
    request: AttemptRequest,
    subscription: DirectorySubscription,
    auth: BearerAuth,
  ): Promise<AttemptRun> {
    // Nothing can be sent without the secrets, so this comes before the token.
    const opened = this.openSecrets(subscription, request.started.epochMs);
    if (opened.type === 'unreadable') return ended(subscription, opened.result);
    const found = await this.tokens.tokenFor(subscription.id, auth, this.waitOf(request));
    if (found.type === 'token') return this.send(request, subscription, found.issued);
    if (found.type === 'aborted') return ABORTED;
    const unsent = this.unsentRun(subscription);
    if (unsent !== null) return unsent;
    if (found.type === 'failed') return ended(subscription, failure('token_error', found.detail));
    // The owner has changed or removed the client, so the attempt goes on with the current version.
    return this.post(request, this.directory.get(subscription.id) ?? subscription);
  }

  private async send(
    request: AttemptRequest,
    subscription: DirectorySubscription,
    issued: IssuedToken | null,
  ): Promise<AttemptRun> {
    const { egress, tokens } = this;
    const { delivery, started, signal, abortGroup } = request;
    const opened = this.openSecrets(subscription, started.epochMs);
    if (opened.type === 'unreadable') return ended(subscription, opened.result);
    const { signing, custom, identity } = opened;
    const deadlineMs = this.leftMs(request);
    if (deadlineMs <= 0) return this.unsentRun(subscription) ?? ended(subscription, NO_TIME_LEFT);
    const headers = headersOf(request, signing, custom);
    if (issued !== null) headers[DELIVERY_HEADER.authorization] = issued.authorization;
    let unsent = null as AttemptRun | null;
    const isWanted = (): boolean => (unsent = this.unsentRun(subscription)) === null;
    const post = {
      url: subscription.url,
      headers,
      body: delivery.body,
      identity,
      owner: subscription,
      deadlineMs,
      keepBody: false,
      isWanted,
    };
    const result = await egress.post(abortGroup ? { ...post, abortGroup } : { ...post, signal });
    if (result.type === 'aborted') return unsent ?? ABORTED;
    if (result.type === 'error' && result.isUnsent === true) unsent = this.unsentRun(subscription);
    if (unsent !== null) return unsent;
    const attempted = attemptResult(result, () => secretsOf(subscription, custom, issued));
    if (issued === null) return ended(subscription, attempted);
    return ended(subscription, attempted, () => {
      tokens.discard(subscription.id, issued);
    });
  }

  /** How an attempt ends without its request because of a change by the owner; null: send it. */
  private unsentRun(subscription: DirectorySubscription): AttemptRun | null {
    const { directory } = this;
    if (directory.isPaused(subscription.id)) return PAUSED;
    const current = directory.get(subscription.id);
    if (current === undefined) return ended(subscription, DELETED_SUBSCRIPTION);
    return current.status === 'disabled' ? ended(subscription, DISABLED_SUBSCRIPTION) : null;
  }

  /** One deadline covers the whole attempt, including its waits for a subscription and a token. */
  private leftMs({ started }: AttemptRequest): number {
    return started.monotonicMs + ATTEMPT_DEADLINE_MS - this.monotonicMs();
  }

  private waitOf(request: AttemptRequest): AttemptWait {
    return { withinMs: this.leftMs(request), signal: request.signal };
  }
}

function failure(errorCode: Extract<AttemptResult, { type: 'error' }>['errorCode'], detail: string): AttemptResult {
  return Object.freeze({ type: 'error', errorCode, detail });
}

const NO_TIME_LEFT = failure('timeout', 'the deadline of the attempt passed before its request could be sent');
const UNKNOWN_SUBSCRIPTION = failure('subscription_unknown', 'the subscriptions could not be read within the attempt');
const DELETED_SUBSCRIPTION = failure('subscription_deleted', 'the subscription was deleted before this attempt');
const DISABLED_SUBSCRIPTION = failure('subscription_disabled', 'the subscription is disabled');
const ABORTED: AttemptRun = Object.freeze({ type: 'aborted' });
const PAUSED: AttemptRun = Object.freeze({ type: 'paused' });

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

function attemptResult(
  result: Exclude<EgressResult, { type: 'aborted' }>,
  secrets: () => readonly string[],
): AttemptResult {
  if (result.type === 'error') return { type: 'error', errorCode: result.errorCode, detail: result.detail };
  const { statusCode, headers, body } = result;
  const said = body.length === 0 ? body : withoutSecrets(body, secrets());
  return { type: 'response', statusCode, retryAfter: headers['retry-after'] ?? null, body: said };
}

/** The secrets of the request, which are never shown: a receiver may repeat them in its error page. */
function secretsOf(
  { headers }: DirectorySubscription,
  custom: Readonly<Record<string, string>>,
  issued: IssuedToken | null,
): readonly string[] {
  const ofHeaders = headers.flatMap(({ name, sealedValue }) => (sealedValue === null ? [] : (custom[name] ?? [])));
  return issued === null ? ofHeaders : [...ofHeaders, issued.authorization.replace(/^Bearer /i, '')];
}
