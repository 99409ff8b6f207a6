import { readFileSync } from 'node:fs';
import type { KafkaSettings } from '@waypost/streams';
import { z } from 'zod';
import { asFlag, asList, asOneOf, asText, configSections, required, withDefault } from './variables.js';

const MECHANISMS = ['plain', 'scram-sha-256', 'scram-sha-512'] as const;

const isBrokerAddress = (item: string): boolean => /^(\[[0-9a-f:.]+\]|[^\s:/]+):\d{1,5}$/i.test(item);

const brokers = z
  .object({
    KAFKA_BROKERS: required(
      asList(isBrokerAddress),
      'a comma-separated list of host:port, for example kafka-1:9092,kafka-2:9092',
    ),
  })
  .transform((env) => env.KAFKA_BROKERS);

const SASL_VARIABLES = ['KAFKA_SASL_MECHANISM', 'KAFKA_SASL_USERNAME', 'KAFKA_SASL_PASSWORD'] as const;

const sasl = z
  .object({
    KAFKA_SASL_MECHANISM: withDefault(asOneOf(...MECHANISMS), `one of ${MECHANISMS.join(', ')}`, undefined),
    KAFKA_SASL_USERNAME: withDefault(asText, 'the user name', undefined),
    KAFKA_SASL_PASSWORD: withDefault(asText, 'the password', undefined),
  })
  .transform((env, ctx): KafkaSettings['sasl'] => {
    const { KAFKA_SASL_MECHANISM: mechanism, KAFKA_SASL_USERNAME: username, KAFKA_SASL_PASSWORD: password } = env;
    if (mechanism !== undefined && username !== undefined && password !== undefined) {
      return { mechanism, username, password };
    }
    const missing = SASL_VARIABLES.filter((name) => env[name] === undefined);
    if (missing.length === SASL_VARIABLES.length) return undefined;
    const message = 'is missing: mechanism, user name and password are set together or not at all';
    for (const name of missing) ctx.addIssue({ code: 'custom', path: [name], message });
    return z.NEVER;
  });

const tls = z
  .object({
    KAFKA_TLS: withDefault(asFlag, 'true or false', false),
    KAFKA_TLS_CA_FILE: withDefault(readCaFile, 'a readable PEM file with the certificate authority', undefined),
  })
  .transform((env) => (env.KAFKA_TLS_CA_FILE === undefined ? env.KAFKA_TLS : { ca: env.KAFKA_TLS_CA_FILE }));

/**
 * KAFKA_BROKERS, KAFKA_SASL_MECHANISM/_USERNAME/_PASSWORD, KAFKA_TLS, KAFKA_TLS_CA_FILE (read at once; it implies TLS).
 * `clientId` is what brokers show in their logs and quotas: the application's name.
 */
export function kafkaConfig(clientId: string): z.ZodType<KafkaSettings> {
  return configSections({ brokers, sasl, tls }).transform((sections) => ({
    brokers: sections.brokers,
    clientId,
    ssl: sections.tls,
    ...(sections.sasl === undefined ? {} : { sasl: sections.sasl }),
  }));
}

function readCaFile(path: string): string | undefined {
  try {
    const pem = readFileSync(path, 'utf8');
    return pem.includes('-----BEGIN CERTIFICATE-----') ? pem : undefined;
  } catch {
    return undefined;
  }
}
