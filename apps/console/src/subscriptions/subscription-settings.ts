import type { CreateSubscriptions, Subscription, UpdateSubscription } from '@waypost/client';

/** What of a subscription is edited, as its fields have it. */
export interface SubscriptionSettings {
  /** '' for none. */
  readonly description: string;
  /** `key=value`, one per line. */
  readonly metadata: string;
  readonly auth: AuthSettings;
  readonly certificate: CertificateSettings;
  readonly headers: HeaderSettings;
  /** '' in a new one: the default of the fleet. */
  readonly payloadFormat: 'v1' | 'legacy-v1' | '';
  /** One per line; none: every device. */
  readonly deviceIds: string;
  /** '' for no limit. */
  readonly rateLimitPerSecond: string;
  readonly onOutage: 'fail' | 'hold';
  readonly strictOrder: boolean;
}

export interface AuthSettings {
  /** `kept`: a bearer token as before, with its secret, which the API does not show. */
  readonly type: 'none' | 'bearer' | 'kept';
  readonly tokenUrl: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly scope: string;
  readonly audience: string;
  /** Where the token endpoint wants the client's secret. */
  readonly tokenAuthMethod: 'client_secret_basic' | 'client_secret_post';
}

export interface CertificateSettings {
  /** `kept`: the one that it has, with its key, which the API does not show. */
  readonly type: 'none' | 'kept' | 'new';
  /** In PEM. */
  readonly certificates: string;
  readonly privateKey: string;
}

/** Headers that every delivery has besides ours. */
export interface HeaderSettings {
  readonly list: readonly HeaderSetting[];
  /** As they are stored. */
  readonly kept: readonly HeaderSetting[];
}

/** The API replaces the list as a whole, and does not show secret values: those stay only while nothing is changed. */
export function areHeadersChanged({ list, kept }: HeaderSettings): boolean {
  const textOf = (headers: readonly HeaderSetting[]) =>
    JSON.stringify(headers.map(({ name, value, secret }) => [name, value, secret]));
  return textOf(list) !== textOf(kept);
}

export interface HeaderSetting {
  readonly name: string;
  /** '' of a secret one that is stored. */
  readonly value: string;
  readonly secret: boolean;
}

const NO_CERTIFICATE: CertificateSettings = { type: 'none', certificates: '', privateKey: '' };

const NO_AUTH: AuthSettings = {
  type: 'none',
  tokenUrl: '',
  clientId: '',
  clientSecret: '',
  scope: '',
  audience: '',
  tokenAuthMethod: 'client_secret_basic',
};

export const NEW_SETTINGS: SubscriptionSettings = {
  description: '',
  metadata: '',
  auth: NO_AUTH,
  certificate: NO_CERTIFICATE,
  headers: { list: [], kept: [] },
  payloadFormat: '',
  deviceIds: '',
  rateLimitPerSecond: '',
  onOutage: 'fail',
  strictOrder: false,
};

export function settingsOf(subscription: Subscription): SubscriptionSettings {
  const stored = subscription.headers.map(({ value = '', ...rest }) => ({ ...rest, value }));
  const { payloadFormat, deviceIds = [], rateLimitPerSecond, onOutage, strictOrder } = subscription;
  const { description = '', metadata, auth, clientCertificate } = subscription;
  return {
    description,
    metadata: Object.entries(metadata)
      .map(([key, value]) => `${key}=${value}`)
      .join('\n'),
    auth: auth.type === 'none' ? NO_AUTH : keptAuth(auth),
    certificate: { ...NO_CERTIFICATE, type: clientCertificate === undefined ? 'none' : 'kept' },
    headers: { list: stored, kept: stored },
    payloadFormat: payloadFormat === 'legacy-v1' ? 'legacy-v1' : 'v1',
    deviceIds: deviceIds.join('\n'),
    rateLimitPerSecond: rateLimitPerSecond === undefined ? '' : String(rateLimitPerSecond),
    onOutage: onOutage === 'hold' ? 'hold' : 'fail',
    strictOrder,
  };
}

function keptAuth(auth: Extract<Subscription['auth'], { type: 'bearer' }>): AuthSettings {
  const tokenAuthMethod = auth.tokenAuthMethod === 'client_secret_post' ? 'client_secret_post' : 'client_secret_basic';
  return { ...NO_AUTH, ...auth, type: 'kept', tokenAuthMethod };
}

type Shared = Pick<
  CreateSubscriptions,
  | 'payloadFormat'
  | 'rateLimitPerSecond'
  | 'onOutage'
  | 'strictOrder'
  | 'description'
  | 'metadata'
  | 'auth'
  | 'headers'
  | 'clientCertificate'
>;

function sharedOf(settings: SubscriptionSettings): Shared {
  const { description, metadata, auth, certificate, headers } = settings;
  const { payloadFormat, rateLimitPerSecond, onOutage, strictOrder } = settings;
  return {
    description: description.trim() === '' ? null : description.trim(),
    metadata: metadataOf(metadata),
    ...(auth.type !== 'kept' && { auth: authOf(auth) }),
    ...(certificate.type !== 'kept' && { clientCertificate: certificateOf(certificate) }),
    ...(areHeadersChanged(headers) && { headers: headers.list }),

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

/** Only what the fields change of it: the other subscriptions that get the same may differ in the rest. */
export function changesOf(subscription: Subscription, settings: SubscriptionSettings): UpdateSubscription {
  const before = changeOf(settingsOf(subscription));
  const isChanged = ([name, value]: readonly [string, unknown]): boolean =>
    JSON.stringify(value) !== JSON.stringify(before[name as keyof UpdateSubscription]);
  return Object.fromEntries(Object.entries(changeOf(settings)).filter(isChanged));
}

function authOf(auth: AuthSettings): NonNullable<Shared['auth']> {
  const { type, tokenUrl, clientId, clientSecret, tokenAuthMethod } = auth;
  if (type === 'none') return { type: 'none' };
  const [scope, audience] = [auth.scope.trim(), auth.audience.trim()];
  const optional = { ...(scope !== '' && { scope }), ...(audience !== '' && { audience }) };
  return { type: 'bearer', tokenUrl, clientId, clientSecret, tokenAuthMethod, ...optional };
}

function certificateOf(settings: CertificateSettings): Exclude<Shared['clientCertificate'], undefined> {
  const { type, certificates, privateKey } = settings;
  return type === 'new' ? { certificates, privateKey } : null;
}

/** The first `=` of a line ends its key. */
function metadataOf(text: string): Record<string, string> {
  return Object.fromEntries(
    linesOf(text).map((line) => {
      const [key = '', ...rest] = line.split('=');
      return [key.trim(), rest.join('=').trim()];
    }),
  );
}

/** An id may hold anything but the end of a line. */
function linesOf(text: string): string[] {
  return text.split('\n').flatMap((line) => (line.trim() === '' ? [] : [line.trim()]));
}
