export { openTopicAdmin, type TopicAdmin } from './admin/topic-admin.js';
export type { CommittedOffset, StreamsBackend } from './backend/backend.js';
export { createKafkaBackend, type KafkaBackendOptions } from './backend/kafka/kafka-backend.js';
export type { KafkaSettings } from './kafka-settings.js';
export { StreamsError, type StreamsErrorCode } from './errors.js';
export { silentLogger, type StreamsLogger } from './logger.js';
export {
  partitionName,
  rangeOf,
  slicesOf,
  type ByteRange,
  type OutgoingRecord,
  type RecordBatch,
  type RecordHeader,
  StreamRecord,
  type TopicPartition,
} from './record.js';
export { createGlobalTable, type GlobalTable, type GlobalTableOptions } from './runtime/global-table.js';
export type { ExceptionHandler, ExceptionHandlerResult, ExceptionHandlers, ParkingReason } from './runtime/parking.js';
export type { OpenedTask, PartitionTask, TaskContext } from './runtime/partition-task.js';
export type { TaskState, TaskStatus } from './runtime/task-executor.js';
export type { SeekTarget } from './runtime/task-input.js';
export { createStreamsApp, type StreamsApp, type StreamsAppOptions } from './runtime/streams-app.js';
export {
  createTaskManager,
  type StateListener,
  type StreamsState,
  type TaskCommand,
  type TaskManager,
  type TaskManagerOptions,
} from './runtime/task-manager.js';
export { keyValueStore, type KeyValueStore, type KeyValueStoreOptions } from './state/key-value-store.js';
export {
  jsonSerde,
  type ChangeSink,
  type EntryScan,
  type ReadOnlyKeyValueStore,
  type Serde,
  type StateStore,
  type StoreDefinition,
  type StoreOptions,
} from './state/state-store.js';
export type { Stall, StallKind } from './stalls.js';
export { partitionForKey } from './partitioner.js';
export {
  createTopology,
  type ForwardedRecord,
  type NoStores,
  type Processor,
  type ProcessorContext,
  type Punctuation,
  type ReadOnlyStoreNames,
  type ReadOnlyStoreOf,
  type RecordSlice,
  type SinkDefinition,
  type SliceProcessor,
  sourcesOf,
  type StoreDefinitions,
  type StoresOf,
  type Topology,
} from './topology/topology.js';
export { topicsOf, type TopicSpec } from './topology/topics.js';
