import { isIP } from 'node:net';
import { z } from 'zod';
import { asFlag, asInteger, asKey256, asList, asUrl, required, withDefault } from './variables.js';

/** SCHEMA_REGISTRY_URL: the base of a Confluent-compatible API; may hold `user:password@`. */
export const registryConfig: z.ZodType<{ readonly url: string }> = z
  .object({
    SCHEMA_REGISTRY_URL: required(
      asUrl('http:', 'https:'),
      'the http(s) base URL of a Confluent-compatible schema registry',
    ),
  })
  .transform((env) => ({ url: env.SCHEMA_REGISTRY_URL }));

/** DATABASE_URL. */
export const databaseConfig: z.ZodType<{ readonly url: string }> = z
  .object({
    DATABASE_URL: required(
      asUrl('postgres:', 'postgresql:'),
      'a PostgreSQL URL, for example postgresql://user:password@host:5432/waypost',
    ),
  })
  .transform((env) => ({ url: env.DATABASE_URL }));

const KEY_MEND = 'the base64 of 32 random bytes, for example from `openssl rand -base64 32`';

/** WAYPOST_SEALING_KEY: the AES-256-GCM key under which subscription secrets are stored. */
export const sealingKeyConfig: z.ZodType<Buffer> = z
  .object({ WAYPOST_SEALING_KEY: required(asKey256, KEY_MEND) })
  .transform((env) => env.WAYPOST_SEALING_KEY);

/** WAYPOST_PAGE_TOKEN_KEY: authenticates `pageState`. */
export const pageTokenKeyConfig: z.ZodType<Buffer> = z
  .object({ WAYPOST_PAGE_TOKEN_KEY: required(asKey256, KEY_MEND) })
  .transform((env) => env.WAYPOST_PAGE_TOKEN_KEY);

export interface EgressConfig {
  /** CIDR subnets that may be reached in spite of R-27; development only. */
  readonly allowedSubnets: readonly string[];
  /** Accepts http URLs next to https; development only. */
  readonly allowHttp: boolean;
}

/** WAYPOST_EGRESS_ALLOW, WAYPOST_ALLOW_HTTP; both default to the safe side. */
export const egressConfig: z.ZodType<EgressConfig> = z
  .object({
    WAYPOST_EGRESS_ALLOW: withDefault(
      asList(isSubnet),
      'a comma-separated list of subnets, for example 127.0.0.0/8,::1/128',
      [],
    ),
    WAYPOST_ALLOW_HTTP: withDefault(asFlag, 'true or false', false),
  })
  .transform((env) => ({ allowedSubnets: env.WAYPOST_EGRESS_ALLOW, allowHttp: env.WAYPOST_ALLOW_HTTP }));

export interface TopicConfig {
  readonly partitions: number;
  readonly replicationFactor: number;
}

/** WAYPOST_PARTITIONS (default 4), WAYPOST_REPLICATION_FACTOR (default 1). */
export const topicConfig: z.ZodType<TopicConfig> = z
  .object({
    WAYPOST_PARTITIONS: withDefault(asInteger(1, 10_000), 'a whole number from 1', 4),
    WAYPOST_REPLICATION_FACTOR: withDefault(asInteger(1, 100), 'a whole number from 1', 1),
  })
  .transform((env) => ({ partitions: env.WAYPOST_PARTITIONS, replicationFactor: env.WAYPOST_REPLICATION_FACTOR }));

function isSubnet(text: string): boolean {
  const [address, prefix, ...rest] = text.split('/');
  if (address === undefined || prefix === undefined || rest.length > 0) return false;
  const family = isIP(address);
  return family !== 0 && asInteger(0, family === 4 ? 32 : 128)(prefix) !== undefined;
}
