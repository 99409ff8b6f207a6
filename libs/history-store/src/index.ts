export { createDataSource, type DataSourceSettings } from './data-source.js';
export { runMigrations } from './run-migrations.js';

// history
export { createDeliveryPartitions, type DeliveryPartitions, type DropResult } from './history/delivery-partitions.js';
export type { AppliedBatch, ApplyResult, AttemptBatch, DeliveryProjection } from './history/delivery-projection.js';
export { isConnectionLoss } from './history/connection-loss.js';
export { createMemoryDeliveryStore, type MemoryDeliveryStore } from './history/memory-delivery-store.js';
export { createDeliveryHistory } from './history/postgres-delivery-history.js';
export { createDeliveryProjection, type DeliveryProjectionDeps } from './history/postgres-delivery-projection.js';

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
  type CreateApiKeyResult,
  type CreateFleetResult,
  type FleetStore,
} from './management/fleet-store.js';
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
export {
  openOutboxSession,
  type OpenOutboxSessionResult,
  type OutboxRow,
  type OutboxSession,
  type OutboxSessionOptions,
} from './management/outbox-session.js';
