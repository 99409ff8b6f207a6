export * from './backend/backend.js';
export { createKafkaBackend, type KafkaBackendOptions } from './backend/kafka/kafka-backend.js';
export type { KafkaSettings } from './backend/kafka/kafka-settings.js';
export { createMemoryBackend } from './backend/memory/memory-backend.js';
export { StreamsError, type StreamsErrorCode } from './errors.js';
export { silentLogger, type StreamsLogger } from './logger.js';
export {
  partitionName,
  type OutgoingRecord,
  type RecordBatch,
  type StreamRecord,
  type TopicPartition,
} from './record.js';
export { createGlobalTable, type GlobalTable, type GlobalTableOptions } from './runtime/global-table.js';
export { readToEnd } from './runtime/log-reader.js';
export type { PartitionTask, TaskContext } from './runtime/partition-task.js';
export { createStreamsApp, type StreamsAppOptions } from './runtime/streams-app.js';
export { createTaskRunner, type TaskRunner, type TaskRunnerOptions } from './runtime/task-runner.js';
export { createTopologyTestDriver, type TopologyTestDriver } from './testing/topology-test-driver.js';
export { partitionForKey } from './topology/partitioner.js';
export type * from './topology/topology.js';
