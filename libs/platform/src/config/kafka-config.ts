import { z } from 'zod';
import type { KafkaSettings } from '@waypost/streams';
import { clientCredentialTokens } from './client-credentials.js';
import { type LoginEffects, loginEffects } from './login-effects.js';
import { mskIamTokens, SIGNER_PACKAGE } from './msk-iam.js';
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

const MECHANISMS = ['plain', 'scram-sha-256', 'scram-sha-512', 'oauthbearer', 'aws-msk-iam'] as const;

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

type SaslVariable =
  | 'KAFKA_SASL_USERNAME'
  | 'KAFKA_SASL_PASSWORD'
  | 'KAFKA_OAUTH_TOKEN_URL'
  | 'KAFKA_OAUTH_CLIENT_ID'
  | 'KAFKA_OAUTH_CLIENT_SECRET'
  | 'KAFKA_OAUTH_SCOPE'
  | 'KAFKA_AWS_REGION';
type Mechanism = (typeof MECHANISMS)[number];

const PASSWORD = ['KAFKA_SASL_USERNAME', 'KAFKA_SASL_PASSWORD'] as const;
const NEEDED: Readonly<Record<Mechanism, readonly SaslVariable[]>> = {
  plain: PASSWORD,
  'scram-sha-256': PASSWORD,
  'scram-sha-512': PASSWORD,
  oauthbearer: ['KAFKA_OAUTH_TOKEN_URL', 'KAFKA_OAUTH_CLIENT_ID', 'KAFKA_OAUTH_CLIENT_SECRET'],
  'aws-msk-iam': ['KAFKA_AWS_REGION'],
};
const ALL_VARIABLES = [...PASSWORD, ...NEEDED.oauthbearer, 'KAFKA_OAUTH_SCOPE', ...NEEDED['aws-msk-iam']] as const;

const saslVariables = z.object({
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
  KAFKA_OAUTH_SCOPE: withDefault(asText, 'scopes separated by spaces', undefined),
  KAFKA_AWS_REGION: withDefault(asText, 'the AWS region of the cluster', undefined),
});

function saslSection(effects: LoginEffects) {
  return saslVariables.transform((env, ctx): KafkaSettings['sasl'] => {
    const problems = saslProblems(env, effects);
    for (const [name, message] of problems) ctx.addIssue({ code: 'custom', path: [name], message });
    return problems.length > 0 ? z.NEVER : saslOf(env, effects);
  });
}

type SaslEnvironment = z.output<typeof saslVariables>;

/** One reason per variable why these settings are not a valid login. */
function saslProblems(
  env: SaslEnvironment,
  { signer }: Pick<LoginEffects, 'signer'>,
): (readonly [name: string, message: string])[] {
  const mechanism = env.KAFKA_SASL_MECHANISM;
  const given = ALL_VARIABLES.filter((name) => env[name] !== undefined);
  // Without a mechanism, a user and password count as a plain login that lacks it.
  const needed = NEEDED[mechanism ?? 'plain'];
  const usable = mechanism === 'oauthbearer' ? [...needed, 'KAFKA_OAUTH_SCOPE'] : needed;
  const useless = given.filter((name) => !usable.includes(name));
  if (useless.length > 0) {
    const why = mechanism === undefined ? 'without KAFKA_SASL_MECHANISM' : `with KAFKA_SASL_MECHANISM=${mechanism}`;
    return useless.map((name) => [name, `has no effect ${why}: remove it`]);
  }
  if (given.length === 0 && mechanism === undefined) return [];
  if (mechanism === 'aws-msk-iam' && signer === null)
    return [['KAFKA_SASL_MECHANISM', `needs a package that is not installed: npm install ${SIGNER_PACKAGE}`]];
  const together = `${needed.join(', ')} and KAFKA_SASL_MECHANISM are set together or not at all`;
  const missing = (['KAFKA_SASL_MECHANISM', ...needed] as const).filter((name) => env[name] === undefined);
  return missing.map((name) => [name, `is missing: ${together}`]);
}

/** Builds the login from complete variables. */
function saslOf(env: SaslEnvironment, { signer, fetch, nowMs, monotonicMs }: LoginEffects): KafkaSettings['sasl'] {
  const text = (name: SaslVariable): string => env[name] ?? '';
  const { KAFKA_SASL_MECHANISM: mechanism, KAFKA_OAUTH_SCOPE: scope } = env;
  if (mechanism === undefined) return undefined;
  if (mechanism === 'aws-msk-iam') {
    if (signer === null) return undefined;
    const tokens = mskIamTokens(text('KAFKA_AWS_REGION'), { load: signer, wallNow: nowMs, now: monotonicMs });
    return { mechanism: 'oauthbearer', oauthBearerProvider: tokens };
  }
  if (mechanism !== 'oauthbearer')
    return { mechanism, username: text('KAFKA_SASL_USERNAME'), password: text('KAFKA_SASL_PASSWORD') };
  const client = {
    tokenUrl: text('KAFKA_OAUTH_TOKEN_URL'),
    clientId: text('KAFKA_OAUTH_CLIENT_ID'),
    clientSecret: text('KAFKA_OAUTH_CLIENT_SECRET'),
    scope,
  };
  return { mechanism, oauthBearerProvider: clientCredentialTokens(client, { fetch, now: monotonicMs }) };
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
 * KAFKA_BROKERS, KAFKA_SASL_MECHANISM/_USERNAME/_PASSWORD, KAFKA_OAUTH_*, KAFKA_AWS_REGION, KAFKA_TLS,
 * KAFKA_TLS_CA_FILE, KAFKA_TLS_CERT_FILE and KAFKA_TLS_KEY_FILE (files are read at once; any of them implies TLS). The
 * brokers' certificates are always verified. Brokers show `clientId`, the application's name, in their logs and quotas.
 */
export function kafkaConfig(clientId: string, effects = loginEffects()): z.ZodType<KafkaSettings> {
  return configSections({ brokers, sasl: saslSection(effects), tls }).transform((sections) => ({
    brokers: sections.brokers,
    clientId,
    ssl: sections.tls,
    ...(sections.sasl === undefined ? {} : { sasl: sections.sasl }),
  }));
}
