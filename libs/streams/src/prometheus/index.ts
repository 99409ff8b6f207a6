export { registerStallMetrics, registerTransactionMetrics } from './backend-metrics.js';
export { type MetricsOptions, registerTaskMetrics, type TaskMetrics } from './task-metrics.js';
