import {
  databaseConfig,
  kafkaConfig,
  parseConfig,
  processConfig,
  registryConfig,
  type TopicConfig,
  topicConfig,
} from '@waypost/platform/without-nest';
import type { ExternalParts } from '../index.js';

export type Environment = Readonly<Record<string, string | undefined>>;

export interface StartConfig {
  readonly env: Environment;
  /** Parts that the environment names and that are therefore not started. */
  readonly external: ExternalParts;
  readonly topics: TopicConfig;
  /** True if npm started this process, which should then end with it. */
  readonly startedByNpm: boolean;
  /** WAYPOST_SUPERVISED: this process ends with its standard input. */
  readonly supervised: boolean;
}

/** @throws BootError naming every variable that is unusable */
export function readStartConfig(env: Environment = process.env): StartConfig {
  const isSet = (name: string): boolean => env[name] !== undefined && env[name] !== '';
  return {
    env,
    external: {
      kafka: isSet('KAFKA_BROKERS') ? parseConfig(kafkaConfig('waypost'), env) : undefined,
      registry: isSet('SCHEMA_REGISTRY_URL') ? parseConfig(registryConfig, env) : undefined,
      databaseUrl: isSet('DATABASE_URL') ? parseConfig(databaseConfig, env).url : undefined,
    },
    topics: parseConfig(topicConfig, env),
    startedByNpm: isSet('npm_lifecycle_event'),
    supervised: parseConfig(processConfig, env).supervised,
  };
}
