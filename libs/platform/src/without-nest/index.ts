/** For programs without Nest: loading it takes half a second, longer than most commands run. */
export {
  createInstances,
  type InstanceCommand,
  type Instances,
  type InstanceTask,
  unansweredText,
} from '../admin/instances.js';
export { kafkaAccessPart, kafkaRefused } from '../app/kafka-access.js';
export { probeKafkaAccess } from '../app/probe-kafka-access.js';
export { stopSignal } from '../app/stop-signal-config.js';
export { BootError } from '../boot-error.js';
export { databaseConfig, databaseReadConfig, databaseSchemaConfig } from '../config/database-config.js';
export { kafkaConfig } from '../config/kafka-config.js';
export {
  asAddress,
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
} from '../config/parse-config.js';
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
} from '../config/service-config.js';
export { tracesConfig, type TracesConfig } from '../config/traces-config.js';
export { createLogger, type Logger } from '../logging/logger.js';
export {
  openGroupProgress,
  type GroupProgressReader,
  type GroupTopics,
  type PartitionProgress,
} from '../tooling/group-progress.js';
export { openRecordPublisher, type PublishedRecord, type RecordPublisher } from '../tooling/record-publisher.js';
