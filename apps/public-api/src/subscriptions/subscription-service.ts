import { testDelivery, type WebhookSubscription } from '@waypost/domain';
import type { ManagementStore, SubscriptionRef } from '@waypost/history-store';
import { requireAcceptedUrls } from './require-accepted-urls.js';
import type { CreateBody, UpdateBody } from './subscription-body.js';
import { changeOf, draftSubscriptions } from './subscription-draft.js';
import {
  noSuchFleet,
  noSuchSubscription,
  notActive,
  subscriptionTaken,
  tooManySecrets,
} from './subscription-refusals.js';
import { type SubscriptionResource, type SubscriptionWithSecret, toResource } from './subscription-resource.js';
import { createSubscriptionSealer, type SubscriptionSealerDeps } from './subscription-sealer.js';
import type { UrlCheck } from './url-check.js';

export interface SubscriptionServiceDeps extends SubscriptionSealerDeps {
  readonly store: Pick<ManagementStore, 'findFleet' | 'subscriptions'>;
  /** */
  readonly checkUrl: (url: string) => Promise<UrlCheck>;
  readonly newId: () => string;
  readonly now: () => number;
  /** Resolves when these changes are published, or after a while all the same: they are durable. */
  readonly untilPublished: (outboxIds: readonly string[]) => Promise<void>;
}

/** Manages the subscriptions of one fleet at a time. @throws ApiError for every refusal */
export interface SubscriptionService {
  create(fleetId: string, body: CreateBody): Promise<SubscriptionWithSecret[]>;
  update(ref: SubscriptionRef, body: UpdateBody): Promise<SubscriptionResource>;
  remove(ref: SubscriptionRef): Promise<void>;
  rotateSecret(ref: SubscriptionRef): Promise<SubscriptionWithSecret>;
  /** Resolves when the test event is durable; it goes the way of all deliveries from then on. */
  sendTest(ref: SubscriptionRef): Promise<QueuedTest>;
}

/** By this id the receiver, and the history, know the test event. */
export interface QueuedTest {
  readonly eventId: string;
}

/** For so long the old secret signs as well. */
const OLD_SECRET_SIGNS_MS = 24 * 3_600_000;

export function createSubscriptionService(deps: SubscriptionServiceDeps): SubscriptionService {
  const { store, now, newId, checkUrl, untilPublished } = deps;
  const sealer = createSubscriptionSealer(deps);

  async function create(fleetId: string, body: CreateBody): Promise<SubscriptionWithSecret[]> {
    await requireAcceptedUrls(checkUrl, body);
    const fleet = await store.findFleet(fleetId);
    if (fleet === null) throw noSuchFleet();
    const drafts = draftSubscriptions({ sealer, newId }, body, fleet);
    const subscriptions = drafts.map((draft) => draft.subscription);
    const result = await store.subscriptions.create(subscriptions, now());
    if (result.type === 'fleet_not_found') throw noSuchFleet();
    if (result.type === 'conflict') throw subscriptionTaken(result.eventTypes);
    await untilPublished(result.outboxIds);
    const secrets = new Map(drafts.map((draft) => [draft.subscription.id, draft.secret]));
    return result.subscriptions.map((stored) => withSecret(stored, secrets.get(stored.id) ?? ''));
  }

  async function update(ref: SubscriptionRef, body: UpdateBody): Promise<SubscriptionResource> {
    await requireAcceptedUrls(checkUrl, body);
    const result = await store.subscriptions.update(ref, changeOf(sealer, body, ref.id), now());
    if (result.type === 'not_found') throw noSuchSubscription();
    if (result.type === 'conflict') throw subscriptionTaken([]);
    if (result.type === 'changed') await untilPublished(result.outboxIds);
    return toResource(result.subscription);
  }

  async function remove(ref: SubscriptionRef): Promise<void> {
    const result = await store.subscriptions.delete(ref, now());
    if (result.type === 'not_found') throw noSuchSubscription();
    await untilPublished(result.outboxIds);
  }

  async function rotateSecret(ref: SubscriptionRef): Promise<SubscriptionWithSecret> {
    const secret = sealer.newSigningSecret(ref.id);
    const nowMs = now();
    const rotation = { sealed: secret.sealed, oldSignsUntil: nowMs + OLD_SECRET_SIGNS_MS, nowMs };
    const result = await store.subscriptions.rotateSecret(ref, rotation);
    if (result.type === 'not_found') throw noSuchSubscription();
    if (result.type === 'too_many_secrets') throw tooManySecrets(Math.ceil((result.retryAt - nowMs) / 1_000));
    await untilPublished(result.outboxIds);
    return withSecret(result.subscription, secret.shown);
  }

  async function sendTest(ref: SubscriptionRef): Promise<QueuedTest> {
    const request = { requestId: newId(), nowMs: now() };
    const make = (subscription: WebhookSubscription) => testDelivery(subscription, request);
    const result = await store.subscriptions.sendTest(ref, make, request.nowMs);
    if (result.type === 'not_found') throw noSuchSubscription();
    if (result.type === 'not_active') throw notActive(result.subscription.status);
    return { eventId: result.delivery.eventId };
  }

  return { create, update, remove, rotateSecret, sendTest };
}

function withSecret(stored: WebhookSubscription, secret: string): SubscriptionWithSecret {
  return { ...toResource(stored), secret };
}
