import { randomBytes } from 'node:crypto';
import { type DataDir, type DevStack, readJsonFile, writeJsonFile } from '../index.js';
import type { Environment } from './start-config.js';

/** What all processes of a stack get. Variables that the user has set win, except those that say where the stack is. */
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
    ...withoutEmpty(env),
    WAYPOST_SUPERVISED: 'true',
    KAFKA_BROKERS: stack.kafka.brokers.join(','),
    SCHEMA_REGISTRY_URL: stack.registryUrl,
    DATABASE_URL: stack.databaseUrl,
  };
}

export interface InstancePorts {
  readonly adminPort: number;
  /** Of public-api. */
  readonly port?: number | undefined;
}

export function instanceEnvironment(
  shared: Environment,
  instanceId: string,
  { adminPort, port }: InstancePorts,
): Environment {
  return {
    ...shared,
    WAYPOST_INSTANCE_ID: instanceId,
    WAYPOST_ADMIN_PORT: String(adminPort),
    ...(port === undefined ? {} : { WAYPOST_PORT: String(port) }),
  };
}

/** An empty variable means "not set" everywhere in the project. */
function withoutEmpty(env: Environment): Environment {
  return Object.fromEntries(Object.entries(env).filter(([, value]) => value !== undefined && value !== ''));
}

/** Base64 of 32 bytes each, as the applications take them. */
export interface StackKeys {
  /** Seals subscription secrets; with another key the stored ones can no longer be opened. */
  readonly sealingKey: string;
  readonly pageTokenKey: string;
}

/** The keys of this data directory, made at the first start. */
export async function stackKeys(dataDir: DataDir): Promise<StackKeys> {
  const file = dataDir.file('keys.json');
  const saved = (await readJsonFile(file)) as StackKeys | null;
  if (saved !== null) return saved;
  const keys: StackKeys = {
    sealingKey: randomBytes(32).toString('base64'),
    pageTokenKey: randomBytes(32).toString('base64'),
  };
  await writeJsonFile(file, keys);
  return keys;
}
