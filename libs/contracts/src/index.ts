export { type AvroCodecs, createAvroCodecs } from './codecs/avro-codecs.js';
export { LONG_LIMIT } from './avro/avro-long.js';
export type { AvroField, AvroPrimitive, AvroRecord, AvroType } from './avro/avro-schema.js';
export { allConsumerGroups, consumerGroups } from './topics/consumer-groups.js';
export { ContractsError } from './contracts-error.js';
export { createDeviceStateReader } from './codecs/device-state-avro.js';
export { eventHeader, type EventPosition, readEventHeader } from './event-header.js';
export { createPingReader, LazyTelemetryPing } from './codecs/lazy-telemetry-ping.js';
export { NO_VALUE, readValue, type ReadValue, type Rejection, rejectedRecord, valueOf } from './codecs/read-value.js';
export {
  readRepublishedHeader,
  type RejectedOrigin,
  rejectionHeaders,
  republishedHeader,
} from './republished-header.js';
export {
  createSchemaRegistry,
  type SchemaRegistryOptions,
  type SchemaRegistryPort,
} from './registry/schema-registry.js';
export { noAnswer, registryAddress, registryAgent, sendToRegistry } from './registry/registry-http.js';
export { fixOfPartitions, setUpKafka } from './topics/set-up-kafka.js';
export { type DecodeResult, resolveBatch, schemaIdOf, type SubjectCodec } from './codecs/subject-codec.js';
export { type KafkaPermission, kafkaPermissions, type KafkaUser } from './topics/kafka-permissions.js';
export {
  allTopics,
  missingTopic,
  timesCount,
  type TopicDefinition,
  type TopicName,
  topicNamed,
  topics,
} from './topics/topics.js';
export { readTraceHeader, readTraceState, traceHeaders } from './trace-header.js';
export { DELIVERY_HEADERS, type DeliveryHeader } from './webhooks/delivery-headers.js';
export { eventDataSchema, type WebhookType } from './webhooks/event-data.js';
export type { JsonSchema } from './webhooks/json-schema.js';
export { webhookExample } from './webhooks/webhook-examples.js';
export { legacySchema, type PublishedSchema, webhookSchemas } from './webhooks/webhook-schemas.js';
