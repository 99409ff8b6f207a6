export * from './without-nest/index.js';
export { type AdminServer, createAdminServer, createMetrics } from './admin/admin-server.js';
export { runApp } from './app/run-app.js';
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
  RANDOM,
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
