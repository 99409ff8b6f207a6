import type { FleetSettings } from '@waypost/domain';
import type { NewSubscription, SubscriptionChange } from '@waypost/management-store';
import type { CreateBody, UpdateBody } from './subscription-body.js';
import type { SubscriptionSealer } from './subscription-sealer.js';

/** A subscription to be made, and its signing secret as the caller is shown it. */
export interface SubscriptionDraft {
  readonly subscription: NewSubscription;
  readonly secret: string;
}

export interface DraftDeps {
  readonly sealer: SubscriptionSealer;
  readonly newId: () => string;
}

/** One draft for each event type that the body names, in its order; the fleet gives what the body leaves out. */
export function draftSubscriptions(deps: DraftDeps, body: CreateBody, fleet: FleetSettings): SubscriptionDraft[] {
  const types = body.eventTypes ?? (body.eventType === undefined ? [] : [body.eventType]);
  return types.map((eventType) => {
    const id = deps.newId();
    const secret = deps.sealer.newSigningSecret(id);
    const subscription = {
      id,
      fleetId: fleet.fleetId,
      eventType,
      url: body.url,
      payloadFormat: body.payloadFormat ?? fleet.payloadFormat,
      deviceIds: body.deviceIds ?? null,
      auth: deps.sealer.sealAuth(body.auth, id),
      rateLimitPerSecond: body.rateLimitPerSecond ?? null,
      onOutage: body.onOutage ?? 'fail',
      strictOrder: body.strictOrder ?? false,
      secrets: [{ sealed: secret.sealed, expiresAt: null }],
    };
    return { subscription, secret: secret.shown };
  });
}

/** Only what the body names: a field left out stays as it is. */
export function changeOf(sealer: SubscriptionSealer, body: UpdateBody, id: string): SubscriptionChange {
  const { url, status, deviceIds, payloadFormat, auth, rateLimitPerSecond, onOutage, strictOrder } = body;
  return {
    ...(url === undefined ? {} : { url }),
    ...(status === undefined ? {} : { status }),
    ...(deviceIds === undefined ? {} : { deviceIds }),
    ...(payloadFormat === undefined ? {} : { payloadFormat }),
    ...(auth === undefined ? {} : { auth: sealer.sealAuth(auth, id) }),
    ...(rateLimitPerSecond === undefined ? {} : { rateLimitPerSecond }),
    ...(onOutage === undefined ? {} : { onOutage }),
    ...(strictOrder === undefined ? {} : { strictOrder }),
  };
}
