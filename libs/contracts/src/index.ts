export type {
  BearerAuth,
  DeviceState,
  FleetEvent,
  FleetSettings,
  Geofence,
  OperationalEvent,
  RejectedTelemetry,
  ReplayProgress,
  SealedSecret,
  SubscriptionState,
  TelemetryPing,
  WebhookAttempt,
  WebhookDelivery,
  WebhookReplay,
  WebhookSubscription,
} from '@waypost/domain';
export type { AvroArray, AvroField, AvroLogical, AvroMap, AvroPrimitive, AvroRecord, AvroType } from './avro-schema.js';
export { createAvroCodecs, type AvroCodecs, type TopicValues } from './avro-codecs.js';
export { allConsumerGroups, consumerGroups, type ConsumerGroup } from './consumer-groups.js';
export { ContractsError, type ContractsErrorCode } from './contracts-error.js';
export type { CompatibilityLevel, SchemaLookup, SchemaRegistryPort } from './schema-registry.port.js';
export { createDeviceStateReader, type DeviceStateReader } from './device-state-reader.js';
export { LazyTelemetryPing } from './lazy-telemetry-ping.js';
export { createPingReader, type PingReader } from './ping-reader.js';
export { resolveBatch } from './resolve-batch.js';
export { createSchemaRegistry, type SchemaRegistryOptions } from './schema-registry.js';
export { setUpKafka, type SetUpResult, type TopicAdmin, type TopicSpec } from './set-up-kafka.js';
export { createSubjectCodec, type DecodeResult, type SubjectCodec } from './subject-codec.js';
export { allTopics, topicNamed, topics, type TopicDefinition, type TopicId, type TopicName } from './topics.js';
export { schemaIdOf, wireHeaderBytes } from './wire-format.js';
export { createWriterSchemas, type WriterSchemas } from './writer-schemas.js';
