import {
  type BearerAuth,
  type FleetSettings,
  formatSigningSecret,
  sealClientSecret,
  sealSigningSecret,
  type WebhookSubscription,
} from '@waypost/domain';
import type { ManagementStore, NewSubscription, SubscriptionChange, SubscriptionRef } from '@waypost/history-store';
import { ApiError, type ErrorDetail, invalidBody, notFound } from '../errors/api-error.js';
import type { AuthBody, CreateBody, UpdateBody } from './subscription-body.js';
import { type SubscriptionResource, type SubscriptionWithSecret, toResource } from './subscription-resource.js';

export type UrlCheck = { readonly type: 'accepted' } | { readonly type: 'refused'; readonly message: string };

export interface SubscriptionServiceDeps {
  readonly store: Pick<ManagementStore, 'findFleet' | 'subscriptions'>;
  /** */
  readonly checkUrl: (url: string) => Promise<UrlCheck>;
  /** 32 bytes: seals what must not be read in the table or the topic. */
  readonly sealingKey: Buffer;
  readonly randomBytes: (size: number) => Buffer;
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
}

/** For so long the old secret signs as well. */
const OLD_SECRET_SIGNS_MS = 24 * 3_600_000;
const NONCE_BYTES = 12;

interface Draft {
  readonly body: CreateBody;
  readonly eventType: string;
  readonly fleet: FleetSettings;
}

export function createSubscriptionService(deps: SubscriptionServiceDeps): SubscriptionService {
  const { store, sealingKey, now, untilPublished } = deps;

  function newSigningSecret(id: string): { shown: string; sealed: string } {
    const bytes = deps.randomBytes(32);
    const sealed = sealSigningSecret(bytes, sealingKey, deps.randomBytes(NONCE_BYTES), id);
    return { shown: formatSigningSecret(bytes), sealed };
  }

  async function checkUrls(body: { url?: string | undefined; auth?: AuthBody | undefined }): Promise<void> {
    const urls: [string, string][] = [];
    if (body.url !== undefined) urls.push(['url', body.url]);
    if (body.auth?.type === 'bearer') urls.push(['auth.tokenUrl', body.auth.tokenUrl]);
    const details = await Promise.all(urls.map(([field, url]) => refusalOf(field, url)));
    const refused = details.filter((detail) => detail !== null);
    if (refused.length > 0) throw invalidBody(refused);
  }

  async function refusalOf(field: string, url: string): Promise<ErrorDetail | null> {
    const check = await deps.checkUrl(url);
    return check.type === 'accepted' ? null : { field, message: check.message };
  }

  function sealAuth(auth: AuthBody | undefined, id: string): BearerAuth | null {
    if (auth?.type !== 'bearer') return null;
    const { tokenUrl, clientId, clientSecret, scope = null } = auth;
    const sealedClientSecret = sealClientSecret(clientSecret, sealingKey, deps.randomBytes(NONCE_BYTES), id);
    return { tokenUrl, clientId, sealedClientSecret, scope };
  }

  function newSubscription(id: string, sealedSecret: string, { body, eventType, fleet }: Draft): NewSubscription {
    return {
      id,
      fleetId: fleet.fleetId,
      eventType,
      url: body.url,
      payloadFormat: body.payloadFormat ?? fleet.payloadFormat,
      deviceIds: body.deviceIds ?? null,
      auth: sealAuth(body.auth, id),
      rateLimitPerSecond: null,
      onOutage: 'fail',
      strictOrder: false,
      secrets: [{ sealed: sealedSecret, expiresAt: null }],
    };
  }

  async function create(fleetId: string, body: CreateBody): Promise<SubscriptionWithSecret[]> {
    await checkUrls(body);
    const fleet = await store.findFleet(fleetId);
    if (fleet === null) throw notFound('This fleet no longer exists.');
    const types = body.eventTypes ?? (body.eventType === undefined ? [] : [body.eventType]);
    const secrets = new Map<string, string>();
    const drafts = types.map((eventType): NewSubscription => {
      const id = deps.newId();
      const secret = newSigningSecret(id);
      secrets.set(id, secret.shown);
      return newSubscription(id, secret.sealed, { body, eventType, fleet });
    });
    const result = await store.subscriptions.create(drafts, now());
    if (result.type === 'fleet_not_found') throw notFound('This fleet no longer exists.');
    if (result.type === 'conflict') throw taken(result.eventTypes);
    await untilPublished(result.outboxIds);
    return result.subscriptions.map((stored) => withSecret(stored, secrets.get(stored.id) ?? ''));
  }

  async function update(ref: SubscriptionRef, body: UpdateBody): Promise<SubscriptionResource> {
    await checkUrls(body);
    const { url, status, deviceIds, payloadFormat, auth } = body;
    const change: SubscriptionChange = {
      ...(url === undefined ? {} : { url }),
      ...(status === undefined ? {} : { status }),
      ...(deviceIds === undefined ? {} : { deviceIds }),
      ...(payloadFormat === undefined ? {} : { payloadFormat }),
      ...(auth === undefined ? {} : { auth: sealAuth(auth, ref.id) }),
    };
    const result = await store.subscriptions.update(ref, change, now());
    switch (result.type) {
      case 'not_found':
        throw noSuchSubscription();
      case 'conflict':
        throw taken([]);
      case 'unchanged':
        return toResource(result.subscription);
      case 'changed':
        await untilPublished(result.outboxIds);
        return toResource(result.subscription);
    }
  }

  async function remove(ref: SubscriptionRef): Promise<void> {
    const result = await store.subscriptions.delete(ref, now());
    if (result.type === 'not_found') throw noSuchSubscription();
    await untilPublished(result.outboxIds);
  }

  async function rotateSecret(ref: SubscriptionRef): Promise<SubscriptionWithSecret> {
    const secret = newSigningSecret(ref.id);
    const nowMs = now();
    const rotation = { sealed: secret.sealed, oldSignsUntil: nowMs + OLD_SECRET_SIGNS_MS, nowMs };
    const result = await store.subscriptions.rotateSecret(ref, rotation);
    switch (result.type) {
      case 'not_found':
        throw noSuchSubscription();
      case 'too_many_secrets':
        throw tooManySecrets(Math.ceil((result.retryAt - nowMs) / 1_000));
      case 'changed':
        await untilPublished(result.outboxIds);
        return withSecret(result.subscription, secret.shown);
    }
  }

  return { create, update, remove, rotateSecret };
}

function withSecret(stored: WebhookSubscription, secret: string): SubscriptionWithSecret {
  return { ...toResource(stored), secret };
}

export function noSuchSubscription(): ApiError {
  return notFound('There is no such subscription.');
}

function taken(eventTypes: readonly string[]): ApiError {
  const which = eventTypes.length === 0 ? 'this event type' : eventTypes.join(', ');
  return new ApiError(
    409,
    'conflict',
    `There is already a subscription for ${which} at this URL; nothing was changed.`,
    {
      details: [{ field: 'url', message: `is already subscribed to ${which}` }],
    },
  );
}

function tooManySecrets(retryAfterS: number): ApiError {
  const message = 'Too many earlier secrets still sign; rotate again when the oldest of them has expired.';
  return new ApiError(409, 'too_many_secrets', message, { headers: { 'retry-after': String(retryAfterS) } });
}
