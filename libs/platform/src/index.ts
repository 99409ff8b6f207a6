export { type AdminServer, createAdminServer, createMetrics } from './admin/admin-server.js';
export {
  createInstances,
  type InstanceCommand,
  type Instances,
  type InstanceTask,
  unansweredText,
} from './admin/instances.js';
export { kafkaAccessPart, kafkaRefused } from './app/kafka-access.js';
export { createProcessHost } from './app/process-host.js';
export { runApp } from './app/run-app.js';
export { BootError } from './boot-error.js';
export { databaseConfig, databaseReadConfig, databaseSchemaConfig } from './config/database-config.js';
export { kafkaConfig } from './config/kafka-config.js';
export {
  asFlag,
  asInteger,
  asList,
  asOneOf,
  asText,
  asUrl,
  configSections,
  type Environment,
  parseConfig,
  withDefault,
} from './config/parse-config.js';
export {
  type EgressConfig,
  egressConfig,
  isAddressOrSubnet,
  pageTokenKeysConfig,
  type ProcessConfig,
  processConfig,
  type RegistryConfig,
  registryConfig,
  sealingKeysConfig,
  type TopicConfig,
  topicConfig,
} from './config/service-config.js';
export { tracesConfig, type TracesConfig } from './config/traces-config.js';
export { createLogger, type Logger } from './logging/logger.js';
export { CODECS, ContractsModule, SCHEMA_REGISTRY } from './contracts/contracts.module.js';
export { Readiness } from './runtime/readiness.js';
export {
  type AppConfig,
  type AppRuntime,
  CLOCK,
  CONFIG,
  LOGGER,
  MONOTONIC_CLOCK,
  NEW_ID,
  ON_FATAL,
  RANDOM_BYTES,
  RuntimeModule,
  STOPPING,
} from './runtime/runtime.module.js';
export { PartitionConsumer, type PartitionTaskFactory, StreamTask } from './streams/decorators.js';
export { PartitionContext, StreamContext, type StreamDefinition } from './streams/handler-context.js';
export { KafkaModule, STREAMS_BACKEND } from './streams/kafka.module.js';
export { Quarantine, QuarantineModule, type UnusableRecord, VersionReader } from './streams/quarantine.js';
export { StreamsRuntime } from './streams/streams-runtime.js';
export { StreamsServer, topologyOf } from './streams/streams-server.js';
export { StreamsModule } from './streams/streams.module.js';
export { type EndedSpan, messageSpan, type SpanRecorder, Traces } from './tracing/span-recorder.js';
export { TracesModule } from './tracing/traces.module.js';
export {
  openGroupProgress,
  type GroupProgressReader,
  type GroupTopics,
  type PartitionProgress,
} from './kafka/group-progress.js';
export { openRecordPublisher, type PublishedRecord, type RecordPublisher } from './kafka/record-publisher.js';
