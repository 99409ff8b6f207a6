import { z } from 'zod';
import {
  type AppConfig,
  asAddress,
  asFlag,
  asInteger,
  asList,
  asUrl,
  configSections,
  databaseConfig,
  databaseReadConfig,
  egressConfig,
  type Environment,
  isAddressOrSubnet,
  kafkaConfig,
  pageTokenKeysConfig,
  parseConfig,
  processConfig,
  registryConfig,
  sealingKeysConfig,
  withDefault,
} from '@waypost/platform';
import { mapTilesConfig } from './console/map-tiles-config.js';

export const APPLICATION = 'public-api';

const http = z
  .object({
    WAYPOST_PORT: withDefault(asInteger(0, 65_535), 'a port number, or 0 for any free port', 8_080),
    WAYPOST_HOST: withDefault(
      asAddress,
      'an IP address of this host, 0.0.0.0 for all of IPv4, or :: for all of IPv6 and IPv4',
      '0.0.0.0',
    ),
    WAYPOST_DRAIN_MS: withDefault(asInteger(0, 20_000), 'a number of milliseconds, 0 to 20000', 0),
    WAYPOST_PUBLIC_URL: withDefault(
      asUrl('https:', 'http:'),
      'the URL of the console and the API, or unset to use the URL of each request',
      undefined,
    ),
    WAYPOST_ADMIN_KEY_SHA256: withDefault(
      asList((item) => /^[0-9a-f]{64}$/.test(item)),
      'the SHA-256 of an admin key in lower-case hexadecimal, or several, comma-separated',
      [],
    ),
    WAYPOST_ADMIN_URLS: withDefault(
      asList((item) => /^https?:\/\/[^/]+$/.test(item)),
      'the comma-separated admin addresses of all instances, for example http://10.0.0.7:9100, or unset',
      [],
    ),
    WAYPOST_V1_GONE: withDefault(asFlag, 'true or false', false),
    WAYPOST_RATE_LIMIT_PER_SECOND: withDefault(
      asInteger(1, 1_000_000),
      'requests per second per API key, from 1',
      1_000,
    ),
    WAYPOST_RATE_LIMIT_BURST: withDefault(asInteger(1, 1_000_000), 'burst of requests of one API key, from 1', 2_000),
    WAYPOST_ADDRESS_RATE_LIMIT_PER_SECOND: withDefault(
      asInteger(1, 1_000_000),
      'requests per second from one address without a valid API key, from 1',
      20,
    ),
    WAYPOST_ADDRESS_RATE_LIMIT_BURST: withDefault(
      asInteger(1, 1_000_000),
      'burst of requests from one address without a valid API key, from 1',
      200,
    ),
    WAYPOST_MAX_SUBSCRIPTIONS_PER_FLEET: withDefault(
      asInteger(1, 1_000_000),
      'how many webhook subscriptions a fleet may have, from 1',
      10_000,
    ),
    WAYPOST_MAX_DEVICE_IDS_PER_FLEET: withDefault(
      asInteger(1, 100_000_000),
      'how many device ids all webhook subscriptions of a fleet may name together, from 1',
      1_000_000,
    ),
    WAYPOST_MAX_API_KEYS_PER_FLEET: withDefault(
      asInteger(1, 100_000),
      'how many API keys a fleet may have that are not revoked, 1 to 100000',
      1_000,
    ),
    WAYPOST_MAX_PORTAL_SESSIONS_PER_FLEET: withDefault(
      asInteger(1, 100_000),
      'how many portal sessions a fleet may have that have not ended, 1 to 100000',
      10_000,
    ),
    WAYPOST_MAX_GEOFENCE_POSITIONS_PER_DAY: withDefault(
      asInteger(1, 1_000_000_000),
      'how many positions of geofences a fleet may write in a day, from 1',
      500_000,
    ),
    WAYPOST_MAX_REPLAYS_PER_DAY: withDefault(
      asInteger(1, 1_000_000),
      'how many replays and resends a fleet may start in a day, 1 to 1000000',
      10_000,
    ),
    WAYPOST_MAX_STREAMS_PER_FLEET: withDefault(
      asInteger(1, 64),
      'how many live streams of one process a fleet may have, 1 to 64',
      16,
    ),
    WAYPOST_TRUSTED_PROXIES: withDefault(
      asList(isAddressOrSubnet),
      'a comma-separated list of addresses or subnets, for example 10.0.0.0/8,::1',
      [],
    ),
  })
  .transform((env) => ({
    host: env.WAYPOST_HOST,
    port: env.WAYPOST_PORT,
    drainMs: env.WAYPOST_DRAIN_MS,
    adminKeyHashes: env.WAYPOST_ADMIN_KEY_SHA256.map((hash) => Buffer.from(hash, 'hex')),
    adminUrls: env.WAYPOST_ADMIN_URLS,
    publicUrl: env.WAYPOST_PUBLIC_URL,
    v1Gone: env.WAYPOST_V1_GONE,
    rateLimit: { perSecond: env.WAYPOST_RATE_LIMIT_PER_SECOND, burst: env.WAYPOST_RATE_LIMIT_BURST },
    addressRateLimit: {
      perSecond: env.WAYPOST_ADDRESS_RATE_LIMIT_PER_SECOND,
      burst: env.WAYPOST_ADDRESS_RATE_LIMIT_BURST,
    },
    fleetLimits: {
      subscriptions: env.WAYPOST_MAX_SUBSCRIPTIONS_PER_FLEET,
      deviceIds: env.WAYPOST_MAX_DEVICE_IDS_PER_FLEET,
      apiKeys: env.WAYPOST_MAX_API_KEYS_PER_FLEET,
      portalSessions: env.WAYPOST_MAX_PORTAL_SESSIONS_PER_FLEET,
      writtenPositions: env.WAYPOST_MAX_GEOFENCE_POSITIONS_PER_DAY,
      startedReplays: env.WAYPOST_MAX_REPLAYS_PER_DAY,
    },
    maxStreamsPerFleet: env.WAYPOST_MAX_STREAMS_PER_FLEET,
    trustedProxies: env.WAYPOST_TRUSTED_PROXIES,
  }));

const schema = configSections({
  process: processConfig,
  http,
  mapTiles: mapTilesConfig,
  kafka: kafkaConfig(APPLICATION),
  registry: registryConfig,
  database: databaseConfig,
  databaseRead: databaseReadConfig,
  sealingKeys: sealingKeysConfig,
  pageTokenKeys: pageTokenKeysConfig,
  egress: egressConfig,
});

export type PublicApiConfig = AppConfig & z.output<typeof schema>;

/** @throws BootError naming every variable that is missing or unusable */
export function readConfig(env: Environment = process.env): PublicApiConfig {
  return parseConfig(schema, env);
}
