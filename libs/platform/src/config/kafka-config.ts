import { z } from 'zod';
import type { KafkaSettings } from '@waypost/streams';
import { asFlag, asList, asOneOf, asPemFile, asText, configSections, required, withDefault } from './parse-config.js';

const MECHANISMS = ['plain', 'scram-sha-256', 'scram-sha-512'] as const;

function isBrokerAddress(item: string): boolean {
  return /^(\[[0-9a-f:.]+\]|[^\s:/]+):\d{1,5}$/i.test(item);
}

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
    KAFKA_TLS: withDefault(asFlag, 'true or false', undefined),
    KAFKA_TLS_CA_FILE: withDefault(
      asPemFile('CERTIFICATE'),
      'a readable PEM file with the certificate authority',
      undefined,
    ),
    KAFKA_TLS_CERT_FILE: withDefault(
      asPemFile('CERTIFICATE'),
      "a readable PEM file with this client's certificate",
      undefined,
    ),
    KAFKA_TLS_KEY_FILE: withDefault(
      asPemFile('PRIVATE KEY'),
      'a readable PEM file with the private key of KAFKA_TLS_CERT_FILE, not encrypted',
      undefined,
    ),
  })
  .transform((env, ctx): KafkaSettings['ssl'] => {
    const { KAFKA_TLS: wanted, KAFKA_TLS_CA_FILE: ca, KAFKA_TLS_CERT_FILE: cert, KAFKA_TLS_KEY_FILE: key } = env;
    const refuse = (name: string, message: string) => {
      ctx.addIssue({ code: 'custom', path: [name], message });
      return z.NEVER;
    };
    const together = 'is missing: certificate and key of the client are set together or not at all';
    if (cert === undefined && key !== undefined) return refuse('KAFKA_TLS_CERT_FILE', together);
    if (key === undefined && cert !== undefined) return refuse('KAFKA_TLS_KEY_FILE', together);
    const files = {
      ...(ca === undefined ? {} : { ca }),
      ...(cert === undefined || key === undefined ? {} : { cert, key }),
    };
    if (Object.keys(files).length === 0) return wanted ?? false;
    if (wanted === false) return refuse('KAFKA_TLS', 'is false although certificates are named: set it to true');
    return files;
  });

/**
 * KAFKA_BROKERS, KAFKA_SASL_MECHANISM/_USERNAME/_PASSWORD, KAFKA_TLS, KAFKA_TLS_CA_FILE, KAFKA_TLS_CERT_FILE and
 * KAFKA_TLS_KEY_FILE (files are read at once; any of them implies TLS). The brokers' certificates are always verified.
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
