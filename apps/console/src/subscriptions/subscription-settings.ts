import type { CreateSubscriptions, Subscription, UpdateSubscription } from '@waypost/client';

/** What of a subscription is edited, as its fields have it. */
export interface SubscriptionSettings {
  /** '' in a new one: the default of the fleet. */
  readonly payloadFormat: 'v1' | 'legacy-v1' | '';
  /** One per line; none: every device. */
  readonly deviceIds: string;
  /** '' for no limit. */
  readonly rateLimitPerSecond: string;
  readonly onOutage: 'fail' | 'hold';
  readonly strictOrder: boolean;
}

export const NEW_SETTINGS: SubscriptionSettings = {
  payloadFormat: '',
  deviceIds: '',
  rateLimitPerSecond: '',
  onOutage: 'fail',
  strictOrder: false,
};

export function settingsOf(subscription: Subscription): SubscriptionSettings {
  const { payloadFormat, deviceIds = [], rateLimitPerSecond, onOutage, strictOrder } = subscription;
  return {
    payloadFormat: payloadFormat === 'legacy-v1' ? 'legacy-v1' : 'v1',
    deviceIds: deviceIds.join('\n'),
    rateLimitPerSecond: rateLimitPerSecond === undefined ? '' : String(rateLimitPerSecond),
    onOutage: onOutage === 'hold' ? 'hold' : 'fail',
    strictOrder,
  };
}

type Shared = Pick<CreateSubscriptions, 'payloadFormat' | 'rateLimitPerSecond' | 'onOutage' | 'strictOrder'>;

function sharedOf({ payloadFormat, rateLimitPerSecond, onOutage, strictOrder }: SubscriptionSettings): Shared {
  return {
    ...(payloadFormat !== '' && { payloadFormat }),
    rateLimitPerSecond: rateLimitPerSecond === '' ? null : Number(rateLimitPerSecond),
    onOutage,
    strictOrder,
  };
}

export function creationOf(settings: SubscriptionSettings): Omit<CreateSubscriptions, 'url'> {
  const deviceIds = linesOf(settings.deviceIds);
  return { ...sharedOf(settings), ...(deviceIds.length > 0 && { deviceIds }) };
}

export function changeOf(settings: SubscriptionSettings): UpdateSubscription {
  const deviceIds = linesOf(settings.deviceIds);
  return { ...sharedOf(settings), deviceIds: deviceIds.length > 0 ? deviceIds : null };
}

/** An id may hold anything but the end of a line. */
function linesOf(text: string): string[] {
  return text.split('\n').flatMap((line) => (line.trim() === '' ? [] : [line.trim()]));
}
