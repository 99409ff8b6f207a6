import { createHash, randomBytes } from 'node:crypto';
import { formatCredential } from '@waypost/domain';
import { type DataDir, readJsonFile, writeJsonFile } from '../data-dir/data-dir.js';
import type { DevStack } from '../index.js';
import type { Environment } from './start-config.js';

/** The environment of all processes of a stack. Variables that the user has set win, except those that say where the stack is. */
export function stackEnvironment(
  env: Environment,
  stack: Pick<DevStack, 'kafka' | 'registryUrl' | 'databaseUrl'>,
  keys: StackKeys,
): Environment {
  return {
    WAYPOST_SEALING_KEY: keys.sealingKey,
    WAYPOST_PAGE_TOKEN_KEY: keys.pageTokenKey,
    // A development stack delivers to receivers on this machine, which forbid otherwise.
    WAYPOST_EGRESS_ALLOW: '127.0.0.0/8,::1/128',
    WAYPOST_ALLOW_HTTP: 'true',
    WAYPOST_ADMIN_KEY_SHA256: createHash('sha256').update(keys.adminKey).digest('hex'),
    ...withoutEmpty(env),
    WAYPOST_SUPERVISED: 'true',
    KAFKA_BROKERS: stack.kafka.brokers.join(','),
    SCHEMA_REGISTRY_URL: stack.registryUrl,
    DATABASE_URL: stack.databaseUrl,
  };
}

export interface InstancePorts {
  readonly adminPort: number;
  /** The admin addresses of all instances; for public-api. */
  readonly adminUrls?: readonly string[] | undefined;
  /** The port of public-api. */
  readonly port?: number | undefined;
}

export function instanceEnvironment(
  shared: Environment,
  instanceId: string,
  { adminPort, adminUrls, port }: InstancePorts,
): Environment {
  return {
    ...shared,
    WAYPOST_INSTANCE_ID: instanceId,
    WAYPOST_ADMIN_PORT: String(adminPort),
    ...(adminUrls === undefined ? {} : { WAYPOST_ADMIN_URLS: adminUrls.join(',') }),
    ...(port === undefined ? {} : { WAYPOST_PORT: String(port) }),
  };
}

/** An empty variable means "not set" everywhere in the project. */
function withoutEmpty(env: Environment): Environment {
  return Object.fromEntries(Object.entries(env).filter(([, value]) => value !== undefined && value !== ''));
}

/** The first two are base64 of 32 bytes each, as the applications expect. */
export interface StackKeys {
  /** Seals subscription secrets; another key cannot open the stored ones. */
  readonly sealingKey: string;
  readonly pageTokenKey: string;
  /** `wpa_...`: it has access to every fleet. */
  readonly adminKey: string;
}

/** The keys of this data directory, created at the first start. */
export async function stackKeys(dataDir: DataDir): Promise<StackKeys> {
  const file = dataDir.file('keys.json');
  const saved = (await readJsonFile(file)) as Partial<StackKeys> | null;
  const keys: StackKeys = {
    sealingKey: randomBytes(32).toString('base64'),
    pageTokenKey: randomBytes(32).toString('base64'),
    adminKey: formatCredential('adminKey', randomBytes(32)),
    ...saved,
  };
  if (saved !== null && Object.keys(saved).length === Object.keys(keys).length) return keys;
  await writeJsonFile(file, keys);
  return keys;
}
