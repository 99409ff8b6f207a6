export { type AvroCodecs, createAvroCodecs, type TopicValues } from './avro-codecs.js';
export type { AvroArray, AvroField, AvroLogical, AvroMap, AvroPrimitive, AvroRecord, AvroType } from './avro-schema.js';
export { allConsumerGroups, type ConsumerGroup, consumerGroups } from './consumer-groups.js';
export { ContractsError, type ContractsErrorCode } from './contracts-error.js';
export { createDeviceStateReader, type DeviceStateReader } from './device-state-avro.js';
export { createPingReader, LazyTelemetryPing, type PingReader } from './lazy-telemetry-ping.js';
export { NO_VALUE, readValue, type ReadValue, type Rejection, rejectedRecord, valueOf } from './read-value.js';
export {
  type CompatibilityLevel,
  createSchemaRegistry,
  type SchemaLookup,
  type SchemaRegistryOptions,
  type SchemaRegistryPort,
} from './schema-registry.js';
export { noAnswer, registryAddress, registryAgent, sendToRegistry } from './registry-http.js';
export { setUpKafka, type SetUpResult, type TopicAdmin, type TopicSpec } from './set-up-kafka.js';
export { type DecodeResult, resolveBatch, schemaIdOf, type SubjectCodec } from './subject-codec.js';
export { type KafkaOperation, type KafkaPermission, kafkaPermissions, type KafkaUser } from './kafka-permissions.js';
export {
  allTopics,
  timesCount,
  type TopicDefinition,
  type TopicId,
  type TopicName,
  topicNamed,
  topics,
} from './topics.js';
export { readTraceHeader, readTraceState, traceHeaders } from './trace-header.js';
export { DELIVERY_HEADERS, type DeliveryHeader } from './webhooks/delivery-headers.js';
export { eventDataSchema, WEBHOOK_TYPES, type WebhookType } from './webhooks/event-data.js';
export type { JsonSchema } from './webhooks/json-schema.js';
export { webhookExample } from './webhooks/webhook-examples.js';
export { legacySchema, type PublishedSchema, webhookSchemas } from './webhooks/webhook-schemas.js';
export { type WriterSchemas } from './writer-schemas.js';
