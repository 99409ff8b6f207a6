export {
  API_KEY_SCOPES,
  type ApiKeyRecord,
  type ApiKeyScope,
  ApiKeyStore,
  type StoredApiKey,
} from './stores/api-key-store.js';
export { ChangeStores } from './stores/change-stores.js';
export type { NewSubscription, TakenSubscription } from './stores/create-subscriptions.js';
export type { ExpectedVersions } from './stores/expected-versions.js';
export type { LimitReached } from './stores/fleet-limits.js';
export {
  COLOR_SCHEMES,
  type FleetPortal,
  type FleetPortalChange,
  FleetPortalStore,
} from './stores/fleet-portal-store.js';
export { type FleetChange, FleetStore } from './stores/fleet-store.js';
export { type GeofenceRef, GeofenceStore, MAX_GEOFENCES } from './stores/geofence-store.js';
export {
  IDEMPOTENCY_KEPT_MS,
  type IdempotencyRef,
  IdempotencyStore,
  type KeptAnswer,
} from './stores/idempotency-store.js';
export type { Listed, ListPosition } from './stores/list-page.js';
export { ManagementStoreModule } from './management-store.module.js';
export { type ManagementStore, openManagementStore } from './management-store.js';
export {
  OPERATIONAL_EVENTS_KEPT,
  fitsOperationalEvents,
  type OperationalEventPosition,
  OperationalEventStore,
} from './stores/operational-event-store.js';
export { type OutboxKind, type OutboxLag, OutboxStore } from './outbox/outbox.js';
export {
  openOutboxSession,
  type OpenOutboxSessionResult,
  type OutboxRow,
  type OutboxSession,
  type OutboxSessionOptions,
} from './outbox/outbox-session.js';
export { type ManagedResources, openRefill } from './repair/refill.js';
export {
  PORTAL_SCOPES,
  type PortalScope,
  type PortalSessionRecord,
  PortalSessionStore,
  type StoredPortalSession,
} from './stores/portal-session-store.js';
export { ReplayStore, type StoredReplay, UNFINISHED_REPLAYS } from './stores/replay-store.js';
export { openReseal, type Reseal } from './repair/reseal.js';
export type { SubscriptionChange } from './stores/subscription-results.js';
export { SubscriptionStore } from './stores/subscription-store.js';
export type { SubscriptionRef, SubscriptionTarget } from './stores/subscription-versions.js';
