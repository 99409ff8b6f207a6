export { type AdminServer, type AdminServerOptions, createAdminServer, createMetrics } from './admin/admin-server.js';
export {
  type CommandOutcome,
  createInstances,
  type InstanceCommand,
  type Instances,
  type InstanceTask,
  type InstanceTasks,
  type Unanswered,
  unansweredText,
} from './admin/instances.js';
export { type AppDefinition, type HttpSettings } from './app/nest-application.js';
export { kafkaAccessPart, kafkaRefused } from './app/kafka-access.js';
export { createProcessHost, type ProcessHost } from './app/process-host.js';
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
  type ReadText,
  required,
  withDefault,
} from './config/parse-config.js';
export {
  type EgressConfig,
  egressConfig,
  isAddressOrSubnet,
  type LogLevel,
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
export {
  type Lifecycle,
  type LifecycleOptions,
  type LifecyclePart,
  type PartState,
  type PartStatus,
  type StartResult,
  type StopResult,
} from './lifecycle/lifecycle.js';
export { createLogger, type Logger, type LoggerOptions } from './logging/logger.js';
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
export {
  type ConsumerGroupOptions,
  PartitionConsumer,
  type PartitionConsumerOptions,
  type PartitionTaskFactory,
  StreamTask,
  type StreamTaskOptions,
} from './streams/decorators.js';
export {
  PartitionContext,
  StreamContext,
  type StreamDefinition,
  type StreamTaskContext,
} from './streams/handler-context.js';
export { KafkaModule, STREAMS_BACKEND } from './streams/kafka.module.js';
export { Quarantine, QuarantineModule, type UnusableRecord, VersionReader } from './streams/quarantine.js';
export { StreamsRuntime } from './streams/streams-runtime.js';
export { StreamsServer, topologyOf } from './streams/streams-server.js';
export { StreamsModule } from './streams/streams.module.js';
export {
  type EndedSpan,
  messageSpan,
  type MessageOfSpan,
  NO_TRACES,
  type SpanRecorder,
  Traces,
} from './tracing/span-recorder.js';
export { TracesModule } from './tracing/traces.module.js';
