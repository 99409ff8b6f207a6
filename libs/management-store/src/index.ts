export { openRefill, type Refill } from './open-refill.js';
export type { ManagedThings, RefillResult } from './refill.js';
export {
  createManagementStore,
  openManagementStore,
  type ManagementStore,
  type ManagementStoreDeps,
} from './management-store.js';
export {
  API_KEY_SCOPES,
  type ApiKeyRecord,
  type ApiKeyScope,
  type ApiKeyStore,
  type CreateApiKeyResult,
  type RevokeApiKeyResult,
  type StoredApiKey,
} from './api-key-store.js';
export type { ChangeFleetResult, CreateFleetResult, FleetChange, FleetStore, NewFleet } from './fleet-store.js';
export {
  type ChangeGeofenceResult,
  type CreateGeofenceResult,
  type DeleteGeofenceResult,
  type GeofenceChange,
  type GeofenceRef,
  type GeofenceStore,
  MAX_GEOFENCES,
  type NewGeofence,
} from './geofence-store.js';
export type { ChangeStores } from './change-stores.js';
export type { ExpectedVersions, VersionMismatch } from './expected-versions.js';
export type { ListPosition } from './list-position.js';
export {
  type ChangeOnceResult,
  IDEMPOTENCY_KEPT_MS,
  type IdempotencyRef,
  type IdempotencyStore,
  type KeptAnswer,
} from './idempotency-store.js';
export type { NewSubscription, SubscriptionChange } from './subscription.js';
export type {
  ChangeSubscriptionResult,
  CreateSubscriptionsResult,
  DeleteSubscriptionResult,
  DisableSubscriptionResult,
  RotateSecretResult,
  SendTestResult,
  SubscriptionPosition,
  SubscriptionRef,
  SubscriptionStore,
  TakenSubscription,
} from './subscription-store.js';
export {
  OPERATIONS_KEPT,
  type OperationPosition,
  type OperationQuery,
  type OperationStore,
} from './operation-store.js';
export {
  type CancelReplayResult,
  type CreateReplayResult,
  type NewReplay,
  type ReplayQuery,
  type ReplayStore,
  type StoredReplay,
  UNFINISHED_REPLAYS,
} from './replay-store.js';
export type { OutboxKind } from './outbox.js';
export { readOutboxLag, type OutboxLag } from './outbox-lag.js';
export {
  openOutboxSession,
  type OpenOutboxSessionResult,
  type OutboxRow,
  type OutboxSession,
  type OutboxSessionOptions,
} from './outbox-session.js';
export { MANAGEMENT_ENTITIES } from './entities.js';
