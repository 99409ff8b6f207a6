import { resolve } from 'node:path';
import { readClusterId } from '@waypost/streams';
import { kafkaSettings } from './kafka-settings.js';
import type { StackEnvironment } from './stack-config.js';

/**
 * Whose topics a command reads, in words. Embedded clusters all have the same id, and their addresses change from start
 * to start, so there the data directory tells them apart.
 */
export async function stackSource(stack: StackEnvironment, dataDir: string): Promise<string> {
  const cluster = `Kafka cluster ${await readClusterId(kafkaSettings(stack))}`;
  return stack.isFromDataDir('KAFKA_BROKERS') ? `${cluster} of ${resolve(dataDir)}` : cluster;
}
