export { createDataSource, type DataSourceSettings } from './data-source.js';
export { databaseAddress, type DatabaseAddress } from './database-address.js';
export { databaseRefusal } from './database-refusal.js';
export { createPageSource, type PageSource } from './page-source.js';
export { poolUsageOf, type PoolUsage } from './pool-usage.js';
export { endStalledSessions, type StalledSessions } from './end-stalled-sessions.js';
export { runMigrations } from './run-migrations.js';
export type { DailyPartitions } from './daily-partitions.js';
export type { DetachResult, DropResult } from './expired-days.js';

// history
export { createDeliveryPartitions } from './history/delivery-partitions.js';
export type { AppliedBatch, ApplyResult, AttemptBatch, DeliveryProjection } from './history/delivery-projection.js';
export { isConnectionLoss, isLockTimeout } from './history/connection-loss.js';
export { createMemoryDeliveryStore, type MemoryDeliveryStore } from './history/memory-delivery-store.js';
export { createDeliveryHistory } from './history/postgres-delivery-history.js';
export { createDeliveryProjection, type DeliveryProjectionDeps } from './history/postgres-delivery-projection.js';
export { explainPage, type PlanNode } from './history/page-plans.js';

// paths
export { createMemoryPathStore, type MemoryPathStore } from './paths/memory-path-store.js';
export { createPathPartitions } from './paths/path-partitions.js';
export type { AppliedPaths, ApplyPathsResult, PathBatch, PathProjection } from './paths/path-projection.js';
export { createPathHistory } from './paths/postgres-path-history.js';
export { createPathProjection, type PathProjectionDeps } from './paths/postgres-path-projection.js';

// rebuild and refill
export { openHistoryRebuild, type HistoryRebuild, type StoredPosition } from './rebuild/history-rebuild.js';
export type { ProjectedLogs } from './rebuild/projected-logs.js';
export { openRefill, type Refill } from './management/open-refill.js';
export type { ManagedThings, RefillResult } from './management/refill.js';

// management
export {
  createManagementStore,
  openManagementStore,
  type ManagementStore,
  type ManagementStoreDeps,
} from './management/management-store.js';
export {
  API_KEY_SCOPES,
  type ApiKeyRecord,
  type ApiKeyScope,
  type ApiKeyStore,
  type CreateApiKeyResult,
  type RevokeApiKeyResult,
  type StoredApiKey,
} from './management/api-key-store.js';
export type {
  ChangeFleetResult,
  CreateFleetResult,
  FleetChange,
  FleetStore,
  NewFleet,
} from './management/fleet-store.js';
export {
  type ChangeGeofenceResult,
  type CreateGeofenceResult,
  type DeleteGeofenceResult,
  type GeofenceChange,
  type GeofenceRef,
  type GeofenceStore,
  MAX_GEOFENCES,
  type NewGeofence,
} from './management/geofence-store.js';
export type { ChangeStores } from './management/change-stores.js';
export type { ExpectedVersions, VersionMismatch } from './management/expected-versions.js';
export type { ListPosition } from './management/list-position.js';
export {
  type ChangeOnceResult,
  IDEMPOTENCY_KEPT_MS,
  type IdempotencyRef,
  type IdempotencyStore,
  type KeptAnswer,
} from './management/idempotency-store.js';
export type { NewSubscription, SubscriptionChange } from './management/subscription.js';
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
} from './management/subscription-store.js';
export {
  OPERATIONS_KEPT,
  type OperationPosition,
  type OperationQuery,
  type OperationStore,
} from './management/operation-store.js';
export {
  type CancelReplayResult,
  type CreateReplayResult,
  type NewReplay,
  type ReplayQuery,
  type ReplayStore,
  type StoredReplay,
  UNFINISHED_REPLAYS,
} from './management/replay-store.js';
export type { OutboxKind } from './management/outbox.js';
export { readOutboxLag, type OutboxLag } from './management/outbox-lag.js';
export {
  openOutboxSession,
  type OpenOutboxSessionResult,
  type OutboxRow,
  type OutboxSession,
  type OutboxSessionOptions,
} from './management/outbox-session.js';
