import { resolve } from 'node:path';
import type { z } from 'zod';
import {
  BootError,
  databaseConfig,
  databaseReadConfig,
  databaseSchemaConfig,
  kafkaConfig,
  parseConfig,
  type RegistryConfig,
  registryConfig,
} from '@waypost/platform/without-nest';
import type { KafkaSettings } from '@waypost/streams';
import { openAdmin } from '@waypost/streams/admin';
import { CliError } from '../terminal/output.js';
import type { StackEnvironment } from './stack-config.js';

/** The cluster of the stack, read as the applications read it (SASL and TLS included). */
export function kafkaSettings(stack: StackEnvironment): KafkaSettings {
  stack.require('KAFKA_BROKERS');
  return settingsOf(stack, kafkaConfig('waypost'));
}

/** The registry of the stack, read as the applications read it (user and certificate authority included). */
export function registrySettings(stack: StackEnvironment): RegistryConfig {
  stack.require('SCHEMA_REGISTRY_URL');
  return settingsOf(stack, registryConfig);
}

export interface DatabaseSettings {
  readonly url: string;
  /** Of the login that owns the tables, if that is another. */
  readonly schemaUrl: string | undefined;
  /** Of a standby for pages. */
  readonly readUrl: string | undefined;
}

/** The database of the stack, read as the applications read it. */
export function databaseSettings(stack: StackEnvironment): DatabaseSettings {
  stack.require('DATABASE_URL');
  return {
    ...settingsOf(stack, databaseConfig),
    ...settingsOf(stack, databaseSchemaConfig),
    ...settingsOf(stack, databaseReadConfig),
  };
}

function settingsOf<T>(stack: StackEnvironment, parser: z.ZodType<T>): T {
  try {
    return parseConfig(parser, stack.variables);
  } catch (error) {
    if (error instanceof BootError) throw new CliError(error.message, 1, { cause: error });
    throw error;
  }
}

/**
 * Whose topics a command reads, in words. Embedded clusters all have the same id, and their addresses change from start
 * to start, so the data directory identifies them.
 */
export async function stackSource(stack: StackEnvironment, dataDir: string): Promise<string> {
  const cluster = `Kafka cluster ${await readClusterId(kafkaSettings(stack))}`;
  return stack.isFromDataDir('KAFKA_BROKERS') ? `${cluster} of ${resolve(dataDir)}` : cluster;
}

/** What a Kafka cluster calls itself, whichever of its brokers answers. */
async function readClusterId(settings: KafkaSettings): Promise<string> {
  const admin = await openAdmin(settings);
  try {
    return (await admin.describeCluster()).clusterId;
  } finally {
    await admin.disconnect();
  }
}
