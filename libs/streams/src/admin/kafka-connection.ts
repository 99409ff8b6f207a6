import { type Admin, Kafka, logLevel, type SASLOptions } from 'kafkajs';
import { loginRefusalOr, unavailableOr } from '../backend/kafka/kafka-errors.js';
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

/**
 * Connects at once; disconnect it when done.
 * @throws {StreamsError} BROKER_UNAVAILABLE, ACCESS_DENIED: why it cannot connect, after some ten seconds of retries
 */
export async function openAdmin(settings: KafkaSettings): Promise<Admin> {
  const admin = connectKafka(settings).admin();
  await connectAdmin(admin, settings.brokers);
  return admin;
}

export async function connectAdmin(admin: Pick<Admin, 'connect'>, brokers: readonly string[]): Promise<void> {
  await admin.connect().catch((error: unknown) => {
    throw unavailableOr(loginRefusalOr(error), `Connecting to ${brokers.join(', ')}`);
  });
}
