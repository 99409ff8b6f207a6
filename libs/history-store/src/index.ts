export { createDeliveryPartitions } from './deliveries/delivery-partitions.js';
export { type AppliedBatch, type ApplyResult, DeliveryProjection } from './deliveries/delivery-projection.js';
export { createDeliveryHistory, explainPage } from './deliveries/postgres-delivery-history.js';
export { createDeliveryProjection } from './deliveries/postgres-delivery-projection.js';
export {
  createResendableDeliveries,
  type ResendableCount,
  ResendableDeliveries,
  type ResendableQuery,
} from './deliveries/resendable-deliveries.js';
export {
  type ActivityQuery,
  createSubscriptionActivities,
  SubscriptionActivities,
} from './deliveries/subscription-activity.js';
export type { PlanNode } from './sql/explain-query.js';

export {
  createDeliveryFigures,
  DeliveryFigures,
  MAX_FIGURE_ROWS,
  type FigureRow,
  type FiguresResult,
  type FigureSum,
} from './figures/delivery-figures.js';
export { percentiles } from './figures/duration-histogram.js';
export { bucketStart, FIGURE_STEPS, type FigureStep } from './figures/figure-cells.js';
export { ATTEMPT_CLASSES, type SummedFigures } from './figures/figures.js';
export type { FigureGroup, FiguresQuery } from './figures/figures-sql.js';
export { createFigurePartitions } from './figures/write-figures.js';

export { type AppliedPaths, PathProjection } from './paths/path-projection.js';
export { createPathHistory } from './paths/postgres-path-history.js';
export { createPathPartitions, createPathProjection } from './paths/postgres-path-projection.js';

export { createWaitingPartitions, createWaitingProjection } from './deliveries/postgres-waiting-projection.js';
export { type AppliedWaiting, type WaitingBatch, WaitingProjection } from './deliveries/waiting-projection.js';

export { createProjectedTopics } from './progress/projected-topics.js';
export { createProjectionProgress, ProjectionProgress } from './progress/projection-progress.js';
export type { PositionMove, Superseded } from './projection/projection-transaction.js';

export type { DailyPartitions } from './partitions/daily-partitions.js';
export { endStalledSessions } from './projection/end-stalled-sessions.js';
export { forgetProjectedTopics } from './rebuild/forget-projected-topics.js';
export { type HistoryRebuild, openHistoryRebuild, type ProjectedLogs } from './rebuild/history-rebuild.js';
