export { type AdminServer, type AdminServerOptions, createAdminServer } from './admin/admin-server.js';
export { createMetrics } from './admin/metrics.js';
export { type AppConfig, type AppDefinition, type AppRuntime, type HttpSettings } from './app/app-definition.js';
export { kafkaAccessPart, kafkaRefused } from './app/kafka-access.js';
export { createProcessHost, type ProcessHost } from './app/process-host.js';
export { EXIT_CODE, runApp } from './app/run-app.js';
export { BootError } from './boot-error.js';
export { databaseConfig } from './config/database-config.js';
export { kafkaConfig } from './config/kafka-config.js';
export { type Environment, parseConfig } from './config/parse-config.js';
export { LOG_LEVELS, type LogLevel, type ProcessConfig, processConfig } from './config/process-config.js';
export {
  type EgressConfig,
  egressConfig,
  isAddressOrSubnet,
  pageTokenKeyConfig,
  type RegistryConfig,
  registryConfig,
  sealingKeyConfig,
  type TopicConfig,
  topicConfig,
} from './config/service-config.js';
export {
  asFlag,
  asInteger,
  asKey256,
  asList,
  asOneOf,
  asText,
  asUrl,
  configSections,
  type ReadText,
  required,
  withDefault,
} from './config/variables.js';
export {
  createLifecycle,
  type Lifecycle,
  type LifecycleOptions,
  type LifecyclePart,
  type PartState,
  type PartStatus,
  type StartResult,
  type StopResult,
} from './lifecycle/lifecycle.js';
export { createLogger, type Logger, type LoggerOptions } from './logging/logger.js';
export { createNestLogger } from './logging/nest-logger.js';
