import { z } from 'zod';
import type { KafkaSettings } from '@waypost/streams';
import { clientCredentialTokens } from './client-credentials.js';
import {
  asFlag,
  asList,
  asOneOf,
  asPemFile,
  asText,
  asUrl,
  configSections,
  required,
  withDefault,
} from './parse-config.js';

const MECHANISMS = ['plain', 'scram-sha-256', 'scram-sha-512', 'oauthbearer'] as const;

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

const PASSWORD_VARIABLES = ['KAFKA_SASL_MECHANISM', 'KAFKA_SASL_USERNAME', 'KAFKA_SASL_PASSWORD'] as const;
const OAUTH_VARIABLES = ['KAFKA_OAUTH_TOKEN_URL', 'KAFKA_OAUTH_CLIENT_ID', 'KAFKA_OAUTH_CLIENT_SECRET'] as const;

const sasl = z
  .object({
    KAFKA_SASL_MECHANISM: withDefault(asOneOf(...MECHANISMS), `one of ${MECHANISMS.join(', ')}`, undefined),
    KAFKA_SASL_USERNAME: withDefault(asText, 'the user name', undefined),
    KAFKA_SASL_PASSWORD: withDefault(asText, 'the password', undefined),
    KAFKA_OAUTH_TOKEN_URL: withDefault(
      asUrl('http:', 'https:'),
      'the http(s) URL of a token endpoint for client credentials',
      undefined,
    ),
    KAFKA_OAUTH_CLIENT_ID: withDefault(asText, 'the id of the client', undefined),
    KAFKA_OAUTH_CLIENT_SECRET: withDefault(asText, 'the secret of the client', undefined),
    KAFKA_OAUTH_SCOPE: withDefault(asText, 'scopes with spaces between them', undefined),
  })
  .transform((env, ctx): KafkaSettings['sasl'] => {
    const refuse = (names: readonly string[], message: string): void => {
      for (const name of names) ctx.addIssue({ code: 'custom', path: [name], message });
    };
    const isTokens = env.KAFKA_SASL_MECHANISM === 'oauthbearer';
    const others = isTokens
      ? (['KAFKA_SASL_USERNAME', 'KAFKA_SASL_PASSWORD'] as const)
      : ([...OAUTH_VARIABLES, 'KAFKA_OAUTH_SCOPE'] as const);
    const useless = others.filter((name) => env[name] !== undefined);
    refuse(useless, `is of no use ${isTokens ? 'with' : 'without'} KAFKA_SASL_MECHANISM=oauthbearer: remove it`);
    if (useless.length > 0) return z.NEVER;
    const missing = (isTokens ? OAUTH_VARIABLES : PASSWORD_VARIABLES).filter((name) => env[name] === undefined);
    if (!isTokens && missing.length === PASSWORD_VARIABLES.length) return undefined;
    const together = isTokens
      ? 'KAFKA_SASL_MECHANISM=oauthbearer needs the token endpoint, the id and the secret of a client'
      : 'mechanism, user name and password are set together or not at all';
    refuse(missing, `is missing: ${together}`);
    return missing.length > 0 ? z.NEVER : saslOf(env);
  });

type SaslVariables = Readonly<Partial<Record<string, string>>> & {
  readonly KAFKA_SASL_MECHANISM?: (typeof MECHANISMS)[number] | undefined;
};

/** Of variables that are complete. */
function saslOf(env: SaslVariables): KafkaSettings['sasl'] {
  const text = (name: string): string => env[name] ?? '';
  const { KAFKA_SASL_MECHANISM: mechanism = 'plain', KAFKA_OAUTH_SCOPE: scope } = env;
  if (mechanism !== 'oauthbearer') {
    return { mechanism, username: text('KAFKA_SASL_USERNAME'), password: text('KAFKA_SASL_PASSWORD') };
  }
  const client = {
    tokenUrl: text('KAFKA_OAUTH_TOKEN_URL'),
    clientId: text('KAFKA_OAUTH_CLIENT_ID'),
    clientSecret: text('KAFKA_OAUTH_CLIENT_SECRET'),
    scope,
  };
  return { mechanism, oauthBearerProvider: clientCredentialTokens(client, { fetch, now: () => performance.now() }) };
}

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
 * KAFKA_BROKERS, KAFKA_SASL_MECHANISM/_USERNAME/_PASSWORD, KAFKA_OAUTH_*, KAFKA_TLS, KAFKA_TLS_CA_FILE, KAFKA_TLS_CERT_FILE and
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
