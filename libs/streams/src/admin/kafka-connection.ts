import { Kafka, logLevel, type SASLOptions } from 'kafkajs';
import type { KafkaSettings } from '../kafka-settings.js';

/** Silent: what goes wrong reaches the caller as an error. */
export function connectKafka(settings: KafkaSettings): Kafka {
  const { brokers, clientId, ssl, sasl } = settings;
  return new Kafka({
    brokers: [...brokers],
    clientId,
    ...(ssl === undefined ? {} : { ssl }),
    // kafkajs types each mechanism as an object of its own.
    ...(sasl === undefined ? {} : { sasl: sasl as SASLOptions }),
    logLevel: logLevel.NOTHING,
    retry: { initialRetryTime: 100, maxRetryTime: 2_000, retries: 8 },
  });
}
