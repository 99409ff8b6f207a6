import { Kafka, logLevel, type SASLOptions } from 'kafkajs';
import type { KafkaSettings } from '../kafka-settings.js';

/** Connects without a logger: failures reach the caller as errors. */
export function connectKafka(settings: KafkaSettings): Kafka {
  const { brokers, clientId, ssl, sasl } = settings;
  return new Kafka({
    brokers: [...brokers],
    clientId,
    ...(ssl === undefined ? {} : { ssl }),
    // kafkajs has a separate type for each mechanism.
    ...(sasl === undefined ? {} : { sasl: sasl as SASLOptions }),
    logLevel: logLevel.NOTHING,
    retry: { initialRetryTime: 100, maxRetryTime: 2_000, retries: 8 },
  });
}
