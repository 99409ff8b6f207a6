export {
  API_KEY_SCOPES,
  type ApiKeyRecord,
  type ApiKeyScope,
  ApiKeyStore,
  type CreateApiKeyResult,
  type RandomBytes,
  type RevokeApiKeyResult,
  type StoredApiKey,
} from './api-key-store.js';
export { ChangeStores } from './change-stores.js';
export type { CreateSubscriptionsResult, NewSubscription, TakenSubscription } from './create-subscriptions.js';
export type { ExpectedVersions, VersionMismatch } from './expected-versions.js';
export type { FleetLimits, LimitReached } from './fleet-limits.js';
export {
  type ChangeFleetPortalResult,
  COLOR_SCHEMES,
  type FleetPortal,
  type FleetPortalChange,
  FleetPortalStore,
} from './fleet-portal-store.js';
export {
  type ChangeFleetResult,
  type CreateFleetResult,
  type FleetChange,
  FleetStore,
  type NewFleet,
} from './fleet-store.js';
export {
  type ChangeGeofenceResult,
  type CreateGeofenceResult,
  type DeleteGeofenceResult,
  type GeofenceChange,
  type GeofenceRef,
  GeofenceStore,
  MAX_GEOFENCES,
  type NewGeofence,
} from './geofence-store.js';
export { type ChangeOnceResult, type IdempotencyRef, IdempotencyStore, type KeptAnswer } from './idempotency-store.js';
export type { ListPosition, ListQuery } from './list-page.js';
export { ManagementStoreModule } from './management-store.module.js';
export { type ManagementStore, openManagementStore } from './management-store.js';
export {
  type OperationalEventPosition,
  type OperationalEventQuery,
  OperationalEventStore,
} from './operational-event-store.js';
export { type OutboxKind, type OutboxLag, OutboxStore } from './outbox.js';
export {
  openOutboxSession,
  type OpenOutboxSessionResult,
  type OutboxRow,
  type OutboxSession,
  type OutboxSessionOptions,
} from './outbox-session.js';
export { type ManagedResources, openRefill, type Refill, type RefillResult } from './refill.js';
export {
  type CreatePortalSessionResult,
  type ExchangePortalCodeResult,
  type NewPortalSession,
  PORTAL_SCOPES,
  type PortalScope,
  type PortalSessionRecord,
  PortalSessionStore,
  type StoredPortalSession,
} from './portal-session-store.js';
export {
  type CancelReplayResult,
  type CreateReplayResult,
  type NewReplay,
  type ReplayQuery,
  ReplayStore,
  type StoredReplay,
  UNFINISHED_REPLAYS,
} from './replay-store.js';
export { openReseal, type Reseal, type ResealProgress } from './reseal.js';
export {
  type ChangeSubscriptionResult,
  type DeleteSubscriptionResult,
  type DisableSubscriptionResult,
  type RotateSecretResult,
  type SendTestResult,
  type SubscriptionChange,
  type SubscriptionListQuery,
  SubscriptionStore,
} from './subscription-store.js';
export type { SubscriptionRef, SubscriptionTarget } from './subscription-versions.js';
