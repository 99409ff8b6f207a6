import { BootError, kafkaConfig, parseConfig } from '@waypost/platform';
import type { KafkaSettings } from '@waypost/streams';
import { CliError } from '../cli-error.js';
import type { StackEnvironment } from './stack-config.js';

/** The cluster of the stack, read as the applications read it (SASL and TLS included). */
export function kafkaSettings(stack: StackEnvironment): KafkaSettings {
  stack.require('KAFKA_BROKERS');
  try {
    return parseConfig(kafkaConfig('waypost'), stack.variables);
  } catch (error) {
    if (error instanceof BootError) throw new CliError(error.message, 1, { cause: error });
    throw error;
  }
}
