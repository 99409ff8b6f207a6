import type { DeliveryHistory, PathHistory } from '@waypost/domain';
import type { ManagementStore } from '@waypost/management-store';
import type { RateLimit } from './auth/rate-limiter.js';
import type { UrlCheck } from './subscriptions/url-check.js';

/** The few log methods that this application uses. */
export interface ApiLogger {
  debug(event: string, fields?: Record<string, unknown>): void;
  info(event: string, fields?: Record<string, unknown>): void;
  warn(event: string, fields?: Record<string, unknown>): void;
  error(event: string, fields?: Record<string, unknown>): void;
}

/** Everything that the HTTP side needs of the outside; main.ts gives the real ones, tests their own. */
export interface ApiDependencies {
  readonly logger: ApiLogger;
  readonly history: DeliveryHistory;
  readonly paths: PathHistory;
  readonly store: Omit<ManagementStore, 'outbox'>;
  readonly checkUrl: (url: string) => Promise<UrlCheck>;
  readonly untilPublished: (outboxIds: readonly string[]) => Promise<void>;
  /** AES-256-GCM key of stored secrets. */
  readonly sealingKey: Buffer;
  /** Authenticates page tokens. */
  readonly pageTokenKey: Buffer;
  /** Of each API key. */
  readonly rateLimit: RateLimit;
  /** Of each address, for what comes without a live key. */
  readonly addressRateLimit: RateLimit;
  /** Cryptographically secure. */
  readonly randomBytes: (size: number) => Buffer;
  readonly newId: () => string;
  readonly now: () => number;
}

export const ADDRESS_LIMITER = Symbol('address limiter');
export const CLOCK = Symbol('clock');
export const LOGGER = Symbol('logger');
export const KEY_DIRECTORY = Symbol('key directory');
export const RATE_LIMITER = Symbol('rate limiter');
export const MANAGEMENT_STORE = Symbol('management store');
export const OUTAGE_LOG = Symbol('outage log');
export const PATH_PAGES = Symbol('path pages');
export const PAGE_STATES = Symbol('page states');
export const DELIVERY_PAGES = Symbol('delivery pages');
export const GEOFENCE_SERVICE = Symbol('geofence service');
export const IDEMPOTENT_REQUESTS = Symbol('idempotent requests');
export const REPLAY_SERVICE = Symbol('replay service');
export const SUBSCRIPTION_SERVICE = Symbol('subscription service');
export const UNTIL_PUBLISHED = Symbol('until published');
