import { testDelivery, type WebhookSubscription } from '@waypost/domain';
import type { ExpectedVersions, ManagementStore, SubscriptionRef } from '@waypost/management-store';
import { type Versioned, versionMismatch } from '../concurrency/entity-tag.js';
import { noSuchFleet } from '../fleets/fleet-refusals.js';
import type { MakeChange } from '../idempotency/idempotent-requests.js';
import { requireAcceptedUrls } from './require-accepted-urls.js';
import type { CreateBody, UpdateBody } from './subscription-body.js';
import { changeOf, draftSubscriptions } from './subscription-draft.js';
import {
  noSuchSubscription,
  notActive,
  subscriptionsTaken,
  tooManySecrets,
  urlTaken,
} from './subscription-refusals.js';
import { type SubscriptionResource, type SubscriptionWithSecret, toResource } from './subscription-resource.js';
import { createSubscriptionSealer, type SubscriptionSealerDeps } from './subscription-sealer.js';
import type { UrlCheck } from './url-check.js';

export interface SubscriptionServiceDeps extends SubscriptionSealerDeps {
  readonly store: Pick<ManagementStore, 'subscriptions'>;
  /** */
  readonly checkUrl: (url: string) => Promise<UrlCheck>;
  readonly newId: () => string;
  readonly now: () => number;
  /** Resolves when these changes are published, or after a while all the same: they are durable. */
  readonly untilPublished: (outboxIds: readonly string[]) => Promise<void>;
}

/** Manages the subscriptions of one fleet at a time. @throws ApiError for every refusal */
export interface SubscriptionService {
  create(
    fleetId: string,
    body: CreateBody,
    change: MakeChange<SubscriptionWithSecret[]>,
  ): Promise<SubscriptionWithSecret[]>;
  update(ref: SubscriptionRef, body: UpdateBody, expected: ExpectedVersions): Promise<Versioned<SubscriptionResource>>;
  remove(ref: SubscriptionRef, expected: ExpectedVersions): Promise<void>;
  rotateSecret(
    ref: SubscriptionRef,
    expected: ExpectedVersions,
    change: MakeChange<Versioned<SubscriptionWithSecret>>,
  ): Promise<Versioned<SubscriptionWithSecret>>;
  /** Resolves when the test event is durable; it goes the way of all deliveries from then on. */
  sendTest(ref: SubscriptionRef, change: MakeChange<QueuedTest>): Promise<QueuedTest>;
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

  const create: SubscriptionService['create'] = async (fleetId, body, change) => {
    await requireAcceptedUrls(checkUrl, body);
    return change(async (stores) => {
      const fleet = await stores.findFleet(fleetId);
      if (fleet === null) throw noSuchFleet();
      const drafts = draftSubscriptions({ sealer, newId }, body, fleet);
      const subscriptions = drafts.map((draft) => draft.subscription);
      const result = await stores.subscriptions.create(subscriptions, now());
      if (result.type === 'fleet_not_found') throw noSuchFleet();
      if (result.type === 'conflict') throw subscriptionsTaken(result.taken);
      const secrets = new Map(drafts.map((draft) => [draft.subscription.id, draft.secret]));
      const answer = result.subscriptions.map((stored) => withSecret(stored, secrets.get(stored.id) ?? ''));
      return { answer, outboxIds: result.outboxIds };
    });
  };

  const update: SubscriptionService['update'] = async (ref, body, expected) => {
    await requireAcceptedUrls(checkUrl, body);
    const result = await store.subscriptions.update(ref, changeOf(sealer, body, ref.id), now(), expected);
    if (result.type === 'not_found') throw noSuchSubscription();
    if (result.type === 'version_mismatch') throw versionMismatch(result.version);
    if (result.type === 'conflict') throw urlTaken(result.id);
    if (result.type === 'changed') await untilPublished(result.outboxIds);
    return { resource: toResource(result.subscription), version: result.subscription.version };
  };

  const remove: SubscriptionService['remove'] = async (ref, expected) => {
    const result = await store.subscriptions.delete(ref, now(), expected);
    if (result.type === 'not_found') throw noSuchSubscription();
    if (result.type === 'version_mismatch') throw versionMismatch(result.version);
    await untilPublished(result.outboxIds);
  };

  const rotateSecret: SubscriptionService['rotateSecret'] = (ref, expected, change) =>
    change(async (stores) => {
      const secret = sealer.newSigningSecret(ref.id);
      const nowMs = now();
      const rotation = { sealed: secret.sealed, oldSignsUntil: nowMs + OLD_SECRET_SIGNS_MS, nowMs };
      const result = await stores.subscriptions.rotateSecret(ref, rotation, expected);
      if (result.type === 'not_found') throw noSuchSubscription();
      if (result.type === 'version_mismatch') throw versionMismatch(result.version);
      if (result.type === 'too_many_secrets') throw tooManySecrets(Math.ceil((result.retryAt - nowMs) / 1_000));
      const { subscription, outboxIds } = result;
      return { answer: { resource: withSecret(subscription, secret.shown), version: subscription.version }, outboxIds };
    });

  const sendTest: SubscriptionService['sendTest'] = (ref, change) =>
    change(async (stores) => {
      const request = { requestId: newId(), nowMs: now() };
      const make = (subscription: WebhookSubscription) => testDelivery(subscription, request);
      const result = await stores.subscriptions.sendTest(ref, make, request.nowMs);
      if (result.type === 'not_found') throw noSuchSubscription();
      if (result.type === 'not_active') throw notActive(result.subscription.status);
      return { answer: { eventId: result.delivery.eventId }, outboxIds: [] };
    });

  return { create, update, remove, rotateSecret, sendTest };
}

function withSecret(stored: WebhookSubscription, secret: string): SubscriptionWithSecret {
  return { ...toResource(stored), secret };
}
