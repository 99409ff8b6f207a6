export {
  API_KEY_SCOPES,
  type ApiKeyRecord,
  type ApiKeyScope,
  ApiKeyStore,
  type StoredApiKey,
} from './api-key-store.js';
export { ChangeStores } from './change-stores.js';
export type { NewSubscription, TakenSubscription } from './create-subscriptions.js';
export type { ExpectedVersions } from './expected-versions.js';
export type { LimitReached } from './fleet-limits.js';
export { COLOR_SCHEMES, type FleetPortal, type FleetPortalChange, FleetPortalStore } from './fleet-portal-store.js';
export { type FleetChange, FleetStore } from './fleet-store.js';
export { type GeofenceRef, GeofenceStore, MAX_GEOFENCES } from './geofence-store.js';
export { type IdempotencyRef, IdempotencyStore, type KeptAnswer } from './idempotency-store.js';
export type { ListPosition } from './list-page.js';
export { ManagementStoreModule } from './management-store.module.js';
export { type ManagementStore, openManagementStore } from './management-store.js';
export { type OperationalEventPosition, OperationalEventStore } from './operational-event-store.js';
export { type OutboxKind, type OutboxLag, OutboxStore } from './outbox.js';
export {
  openOutboxSession,
  type OpenOutboxSessionResult,
  type OutboxRow,
  type OutboxSession,
  type OutboxSessionOptions,
} from './outbox-session.js';
export { type ManagedResources, openRefill } from './refill.js';
export {
  PORTAL_SCOPES,
  type PortalScope,
  type PortalSessionRecord,
  PortalSessionStore,
  type StoredPortalSession,
} from './portal-session-store.js';
export { ReplayStore, type StoredReplay, UNFINISHED_REPLAYS } from './replay-store.js';
export { openReseal, type Reseal } from './reseal.js';
export type { SubscriptionChange } from './subscription-results.js';
export { SubscriptionStore } from './subscription-store.js';
export type { SubscriptionRef, SubscriptionTarget } from './subscription-versions.js';
