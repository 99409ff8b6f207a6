import { Inject, Injectable } from '@nestjs/common';
import {
  type BearerAuth,
  type ClientCertificate,
  type CustomHeader,
  type FleetSettings,
  formatSigningSecret,
  sealClientKey,
  sealClientSecret,
  sealHeaderValue,
  sealSigningSecret,
} from '@waypost/domain';
import { checkClientCertificate } from '@waypost/egress';
import type { NewSubscription, SubscriptionChange } from '@waypost/management-store';
import { CLOCK, CONFIG, NEW_ID, RANDOM_BYTES } from '@waypost/platform';
import type { PublicApiConfig } from '../config.js';
import { invalidBody } from '../errors/api-error.js';
import type { CertificateBody } from './subscription-certificate.dto.js';
import type { HeadersBody } from './subscription-headers.dto.js';
import type { AuthBody, CreateSubscriptionsDto, UpdateSubscriptionDto } from './subscriptions.dto.js';

/** A signing secret in both its forms: `shown` to the caller once, sealed for each subscription in the table and the topic. */
export interface NewSigningSecret {
  readonly shown: string;
  readonly sealFor: (subscriptionId: string) => string;
}

/** Subscriptions to create, and the signing secret that they share, as it is shown to the caller. */
export interface SubscriptionDraft {
  readonly subscriptions: readonly NewSubscription[];
  readonly secret: string;
}

const SECRET_BYTES = 32;
const NONCE_BYTES = 12;

/** Makes rows of requests, with their secrets sealed; what is sealed for one id opens for no other. */
@Injectable()
export class SubscriptionDrafts {
  constructor(
    @Inject(CONFIG) private readonly config: Pick<PublicApiConfig, 'sealingKeys'>,
    @Inject(RANDOM_BYTES) private readonly randomBytes: (size: number) => Buffer,
    @Inject(NEW_ID) private readonly newId: () => string,
    @Inject(CLOCK) private readonly nowMs: () => number,
  ) {}

  /**
   * One subscription per event type of the body, in its order; what the body leaves out comes from the fleet.
   * @throws ApiError 400 for a client certificate that cannot be used
   */
  draft(body: CreateSubscriptionsDto, fleet: FleetSettings): SubscriptionDraft {
    const secret = this.newSigningSecret();
    const certificateOf = this.acceptCertificate(body.clientCertificate ?? null);
    const types = body.eventTypes ?? (body.eventType === undefined ? [] : [body.eventType]);
    const subscriptions = types.map((eventType) => {
      const id = this.newId();
      return {
        id,
        fleetId: fleet.fleetId,
        eventType,
        url: body.url,
        description: body.description ?? null,
        metadata: body.metadata ?? {},
        payloadFormat: body.payloadFormat ?? fleet.payloadFormat,
        deviceIds: body.deviceIds ?? null,
        auth: this.sealAuth(body.auth, id),
        headers: this.sealHeaders(body.headers ?? [], id),
        clientCertificate: certificateOf(id),
        rateLimitPerSecond: body.rateLimitPerSecond ?? null,
        onOutage: body.onOutage ?? 'fail',
        strictOrder: body.strictOrder ?? false,
        secrets: [{ sealed: secret.sealFor(id), expiresAt: null }],
      };
    });
    return { subscriptions, secret: secret.shown };
  }

  /**
   * Only the fields of the body: a field left out stays as it is. The change of each subscription is sealed for it alone.
   * @throws ApiError 400 for a client certificate that cannot be used
   */
  changeOf(body: UpdateSubscriptionDto): (subscriptionId: string) => SubscriptionChange {
    const { auth, headers, clientCertificate, ...fields } = body;
    const certificateOf = clientCertificate === undefined ? undefined : this.acceptCertificate(clientCertificate);
    return (id) => ({
      ...withoutAbsent(fields),
      ...(certificateOf === undefined ? {} : { clientCertificate: certificateOf(id) }),
      ...(auth === undefined ? {} : { auth: this.sealAuth(auth, id) }),
      ...(headers === undefined ? {} : { headers: this.sealHeaders(headers, id) }),
    });
  }

  newSigningSecret(): NewSigningSecret {
    const bytes = this.randomBytes(SECRET_BYTES);
    const sealFor = (id: string) =>
      sealSigningSecret(bytes, this.config.sealingKeys, this.randomBytes(NONCE_BYTES), id);
    return { shown: formatSigningSecret(bytes), sealFor };
  }

  /** null: deliveries do not authenticate themselves. */
  private sealAuth(auth: AuthBody | undefined, id: string): BearerAuth | null {
    if (auth?.type !== 'bearer') return null;
    const { tokenUrl, clientId, clientSecret, scope = null, audience = null } = auth;
    const nonce = this.randomBytes(NONCE_BYTES);
    return {
      tokenUrl,
      clientId,
      sealedClientSecret: sealClientSecret(clientSecret, this.config.sealingKeys, nonce, id),
      scope,
      audience,
      tokenAuthMethod: auth.tokenAuthMethod ?? 'client_secret_basic',
    };
  }

  private acceptCertificate(body: CertificateBody): (subscriptionId: string) => ClientCertificate | null {
    if (body === null) return () => null;
    const check = checkClientCertificate(body, this.nowMs());
    if (check.type === 'refused') {
      throw invalidBody([{ field: `clientCertificate.${check.part}`, message: check.message }]);
    }
    const { pair, subject, expiresAt } = check;
    return (id) => {
      const sealedKey = sealClientKey(pair.privateKey, this.config.sealingKeys, this.randomBytes(NONCE_BYTES), id);
      return { certificates: pair.certificates, sealedKey, subject, expiresAt };
    };
  }

  private sealHeaders(headers: HeadersBody, subscriptionId: string): CustomHeader[] {
    return headers.map(({ name, value, secret }) => {
      if (!secret) return { name, value, sealedValue: null };
      const nonce = this.randomBytes(NONCE_BYTES);
      return {
        name,
        value: null,
        sealedValue: sealHeaderValue(value, this.config.sealingKeys, nonce, { subscriptionId, name }),
      };
    });
  }
}

/** Without the fields that a body can name as undefined, which would clear them. */
function withoutAbsent<T extends object>(fields: T): { [Name in keyof T]?: Exclude<T[Name], undefined> } {
  const present = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.fromEntries(present) as { [Name in keyof T]?: Exclude<T[Name], undefined> };
}
