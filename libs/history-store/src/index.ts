export { endStalledSessions, type StalledSessions } from './end-stalled-sessions.js';
export type { DailyPartitions } from './daily-partitions.js';
export type { DetachResult, DropResult } from './expired-days.js';

// history
export { createDeliveryPartitions } from './history/delivery-partitions.js';
export type { AppliedBatch, ApplyResult, AttemptBatch, DeliveryProjection } from './history/delivery-projection.js';
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

// rebuild
export { openHistoryRebuild, type HistoryRebuild, type StoredPosition } from './rebuild/history-rebuild.js';
export type { ProjectedLogs } from './rebuild/projected-logs.js';
