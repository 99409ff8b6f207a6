import { isIP } from 'node:net';
import { z } from 'zod';
import {
  asAddress,
  asFlag,
  asInteger,
  asKeys256,
  asList,
  asOneOf,
  asPemFile,
  asUrl,
  required,
  withDefault,
} from './parse-config.js';

export interface RegistryConfig {
  /** Base of a Confluent-compatible API; may hold `user:password@`. */
  readonly url: string;
  /** PEM of the certificate authorities to trust instead of the system's. */
  readonly ca?: string;
}

/** SCHEMA_REGISTRY_URL; SCHEMA_REGISTRY_CA_FILE, read at once. The registry's certificate is always verified. */
export const registryConfig: z.ZodType<RegistryConfig> = z
  .object({
    SCHEMA_REGISTRY_URL: required(
      asUrl('http:', 'https:'),
      'the http(s) base URL of a Confluent-compatible schema registry',
    ),
    SCHEMA_REGISTRY_CA_FILE: withDefault(
      asPemFile('CERTIFICATE'),
      'a readable PEM file with the certificate authority',
      undefined,
    ),
  })
  .transform((env, ctx) => {
    const { SCHEMA_REGISTRY_URL: url, SCHEMA_REGISTRY_CA_FILE: ca } = env;
    if (ca === undefined) return { url };
    if (url.startsWith('https:')) return { url, ca };
    const message = 'has no effect with http: make SCHEMA_REGISTRY_URL an https URL, or remove it';
    ctx.addIssue({ code: 'custom', path: ['SCHEMA_REGISTRY_CA_FILE'], message });
    return z.NEVER;
  });

const KEYS_REQUIREMENT =
  'the base64 of 32 random bytes, for example from `openssl rand -base64 32`, or several, comma-separated, newest first';

/** WAYPOST_SEALING_KEY: AES-256-GCM keys of subscription secrets. All of them open, the first seals. */
export const sealingKeysConfig: z.ZodType<readonly Buffer[]> = z
  .object({ WAYPOST_SEALING_KEY: required(asKeys256, KEYS_REQUIREMENT) })
  .transform((env) => env.WAYPOST_SEALING_KEY);

/** WAYPOST_PAGE_TOKEN_KEY: keys that authenticate `pageState`. All of them open, the first seals. */
export const pageTokenKeysConfig: z.ZodType<readonly Buffer[]> = z
  .object({ WAYPOST_PAGE_TOKEN_KEY: required(asKeys256, KEYS_REQUIREMENT) })
  .transform((env) => env.WAYPOST_PAGE_TOKEN_KEY);

export interface EgressConfig {
  /** CIDR subnets that are allowed despite R-27; development only. */
  readonly allowedSubnets: readonly string[];
  /** CIDR subnets, and host names with all their subdomains, that are never called. */
  readonly denied: readonly string[];
  /** PEM of certificate authorities to trust in addition to the public ones. */
  readonly trustedCa?: string;
  /** `http://user:password@host:port` of a proxy for every connection, by CONNECT. A secret. */
  readonly proxyUrl?: string;
  /** Accepts http URLs next to https; development only. */
  readonly allowHttp: boolean;
}

/** WAYPOST_EGRESS_ALLOW, _DENY, _CA_FILE, _PROXY_URL and WAYPOST_ALLOW_HTTP; all defaults are safe. */
export const egressConfig: z.ZodType<EgressConfig> = z
  .object({
    WAYPOST_EGRESS_ALLOW: withDefault(
      asList(isSubnet),
      'a comma-separated list of subnets, for example 127.0.0.0/8,::1/128',
      [],
    ),
    WAYPOST_EGRESS_DENY: withDefault(
      asList((text) => isSubnet(text) || isHostName(text)),
      'a comma-separated list of subnets and host names, for example 203.0.113.0/24,example.com',
      [],
    ),
    WAYPOST_EGRESS_CA_FILE: withDefault(
      asPemFile('CERTIFICATE'),
      'a readable PEM file with the certificate authority',
      undefined,
    ),
    WAYPOST_EGRESS_PROXY_URL: withDefault(
      asProxyUrl,
      'the http URL of a proxy without a path, for example http://user:password@proxy.example:3128, with credentials percent-encoded',
      undefined,
    ),
    WAYPOST_ALLOW_HTTP: withDefault(asFlag, 'true or false', false),
  })
  .transform((env) => ({
    allowedSubnets: env.WAYPOST_EGRESS_ALLOW,
    denied: env.WAYPOST_EGRESS_DENY,
    ...(env.WAYPOST_EGRESS_CA_FILE === undefined ? {} : { trustedCa: env.WAYPOST_EGRESS_CA_FILE }),
    ...(env.WAYPOST_EGRESS_PROXY_URL === undefined ? {} : { proxyUrl: env.WAYPOST_EGRESS_PROXY_URL }),
    allowHttp: env.WAYPOST_ALLOW_HTTP,
  }));

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

export function isAddressOrSubnet(text: string): boolean {
  return isIP(text) !== 0 || isSubnet(text);
}

/** A name, not an address: addresses are given as subnets. */
function isHostName(text: string): boolean {
  return isIP(text) === 0 && /^(?!-)[a-z0-9-]{1,63}(\.[a-z0-9-]{1,63})*$/i.test(text);
}

function asProxyUrl(text: string): string | undefined {
  if (asUrl('http:')(text) === undefined) return undefined;
  const { pathname, search, hash, port, username, password } = new URL(text);
  const isBare = pathname === '/' && search === '' && hash === '' && port !== '0';
  // A stray percent sign would only fail when the first connection is opened.
  return isBare && isDecodable(username) && isDecodable(password) ? text : undefined;
}

function isDecodable(percentEncoded: string): boolean {
  try {
    decodeURIComponent(percentEncoded);
    return true;
  } catch {
    return false;
  }
}

function isSubnet(text: string): boolean {
  const [address, prefix, ...rest] = text.split('/');
  if (address === undefined || prefix === undefined || rest.length > 0) return false;
  const family = isIP(address);
  return family !== 0 && asInteger(0, family === 4 ? 32 : 128)(prefix) !== undefined;
}

const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** The settings that every application needs to run as a process. */
export interface ProcessConfig {
  /** The host for health, readiness and metrics. Commands are accepted from localhost only, whatever this is. */
  readonly adminHost: string;
  /** 0 means any free port. */
  readonly adminPort: number;
  readonly logLevel: LogLevel;
  /** Kafka static membership, e.g. `webhook-delivery-0`; undefined: a dynamic member. */
  readonly instanceId: string | undefined;
  /** True if the application ends when its parent process is gone. */
  readonly supervised: boolean;
}

/** WAYPOST_ADMIN_HOST, WAYPOST_ADMIN_PORT, LOG_LEVEL, WAYPOST_INSTANCE_ID, WAYPOST_SUPERVISED; all have defaults. */
export const processConfig: z.ZodType<ProcessConfig> = z
  .object({
    WAYPOST_ADMIN_HOST: withDefault(
      asAddress,
      'an IP address of this host, 0.0.0.0 for all of IPv4, or :: for all of IPv6 and IPv4',
      '127.0.0.1',
    ),
    WAYPOST_ADMIN_PORT: withDefault(asInteger(0, 65_535), 'a port number, or 0 for any free port', 0),
    LOG_LEVEL: withDefault(asOneOf(...LOG_LEVELS), `one of ${LOG_LEVELS.join(', ')}`, 'info'),
    WAYPOST_INSTANCE_ID: withDefault(
      (text) => (/^[\w.-]{1,100}$/.test(text) ? text : undefined),
      'at most 100 letters, digits, dots, dashes or underscores, different for each instance',
      undefined,
    ),
    WAYPOST_SUPERVISED: withDefault(asFlag, 'true or false', false),
  })
  .transform((env) => ({
    adminHost: env.WAYPOST_ADMIN_HOST,
    adminPort: env.WAYPOST_ADMIN_PORT,
    logLevel: env.LOG_LEVEL,
    instanceId: env.WAYPOST_INSTANCE_ID,
    supervised: env.WAYPOST_SUPERVISED,
  }));
