import { Kafka, logLevel } from 'kafkajs';
import type { KafkaSettings } from '../kafka-settings.js';

/** Silent: what goes wrong reaches the caller as an error. */
export function connectKafka(settings: KafkaSettings): Kafka {
  const { brokers, clientId, ssl, sasl } = settings;
  return new Kafka({
    brokers: [...brokers],
    clientId,
    ...(ssl === undefined ? {} : { ssl }),
    ...(sasl === undefined ? {} : { sasl: saslOptions(sasl) }),
    logLevel: logLevel.NOTHING,
    retry: { initialRetryTime: 100, maxRetryTime: 2_000, retries: 8 },
  });
}

/** kafkajs types each mechanism as an object of its own. */
function saslOptions(sasl: NonNullable<KafkaSettings['sasl']>) {
  if (sasl.mechanism === 'oauthbearer') return sasl;
  const { username, password } = sasl;
  switch (sasl.mechanism) {
    case 'plain':
      return { mechanism: 'plain', username, password } as const;
    case 'scram-sha-256':
      return { mechanism: 'scram-sha-256', username, password } as const;
    case 'scram-sha-512':
      return { mechanism: 'scram-sha-512', username, password } as const;
  }
}
