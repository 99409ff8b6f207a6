import { formatTime, type WebhookSubscription } from '@waypost/domain';

/** A subscription as the API shows it: no secrets. */
export interface SubscriptionResource {
  readonly id: string;
  readonly fleetId: string;
  readonly eventType: string;
  readonly url: string;
  readonly status: string;
  readonly disabledReason?: string;
  readonly payloadFormat: string;
  /** Absent: every device. */
  readonly deviceIds?: readonly string[];
  readonly auth: AuthResource;
  /** Absent: no limit. */
  readonly rateLimitPerSecond?: number;
  readonly onOutage: string;
  readonly strictOrder: boolean;
  readonly createdAt: string;
  readonly updatedAt: string;
}

export type AuthResource =
  | { readonly type: 'none' }
  | { readonly type: 'bearer'; readonly tokenUrl: string; readonly clientId: string; readonly scope?: string };

/** On creation and rotation, and never again, together with the signing secret. */
export type SubscriptionWithSecret = SubscriptionResource & { readonly secret: string };

export function toResource(stored: WebhookSubscription): SubscriptionResource {
  return {
    id: stored.id,
    fleetId: stored.fleetId,
    eventType: stored.eventType,
    url: stored.url,
    status: stored.status,
    ...(stored.disabledReason === null ? {} : { disabledReason: stored.disabledReason }),
    payloadFormat: stored.payloadFormat,
    ...(stored.deviceIds === null ? {} : { deviceIds: stored.deviceIds }),
    auth: authOf(stored),
    ...(stored.rateLimitPerSecond === null ? {} : { rateLimitPerSecond: stored.rateLimitPerSecond }),
    onOutage: stored.onOutage,
    strictOrder: stored.strictOrder,
    createdAt: formatTime(stored.createdAt),
    updatedAt: formatTime(stored.updatedAt),
  };
}

function authOf({ auth }: WebhookSubscription): AuthResource {
  if (auth === null) return { type: 'none' };
  const scope = auth.scope === null ? {} : { scope: auth.scope };
  return { type: 'bearer', tokenUrl: auth.tokenUrl, clientId: auth.clientId, ...scope };
}
