export { type AvroCodecs, createAvroCodecs } from './avro-codecs.js';
export { LONG_LIMIT } from './avro-long.js';
export type { AvroField, AvroPrimitive, AvroRecord, AvroType } from './avro-schema.js';
export { allConsumerGroups, consumerGroups } from './consumer-groups.js';
export { ContractsError } from './contracts-error.js';
export { createDeviceStateReader } from './device-state-avro.js';
export { createPingReader, LazyTelemetryPing } from './lazy-telemetry-ping.js';
export { NO_VALUE, readValue, type ReadValue, type Rejection, rejectedRecord, valueOf } from './read-value.js';
export { createSchemaRegistry, type SchemaRegistryOptions, type SchemaRegistryPort } from './schema-registry.js';
export { noAnswer, registryAddress, registryAgent, sendToRegistry } from './registry-http.js';
export { setUpKafka } from './set-up-kafka.js';
export { type DecodeResult, resolveBatch, schemaIdOf, type SubjectCodec } from './subject-codec.js';
export { type KafkaPermission, kafkaPermissions, type KafkaUser } from './kafka-permissions.js';
export {
  allTopics,
  missingTopic,
  timesCount,
  type TopicDefinition,
  type TopicName,
  topicNamed,
  topics,
} from './topics.js';
export { readTraceHeader, readTraceState, traceHeaders } from './trace-header.js';
export { DELIVERY_HEADERS, type DeliveryHeader } from './webhooks/delivery-headers.js';
export { eventDataSchema, type WebhookType } from './webhooks/event-data.js';
export type { JsonSchema } from './webhooks/json-schema.js';
export { webhookExample } from './webhooks/webhook-examples.js';
export { legacySchema, type PublishedSchema, webhookSchemas } from './webhooks/webhook-schemas.js';
