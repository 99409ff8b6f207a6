import { randomBytes } from 'node:crypto';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { KafkaSettings } from '@waypost/streams';
import { openDataDir, startDevStack } from '../../../tools/dev-stack/index.js';
import { type Authority, createAuthority, type Identity } from './certificates.js';

export type PasswordLogin = Extract<NonNullable<KafkaSettings['sasl']>, { readonly password: string }>;

export interface SecuredStack {
  readonly authority: Authority;
  /** An authority that signed nothing here. */
  readonly stranger: Authority;
  /** SASL over TLS, with the user of every mechanism. */
  readonly kafka: KafkaSettings & { readonly sasl: PasswordLogin };
  /** Where a client's certificate is its login. */
  readonly mutualTls: KafkaSettings;
  readonly databaseUrl: string;
  readonly client: Identity;
  /** Writes a PEM into a file of the test and returns its path. */
  file(name: string, pem: string): Promise<string>;
  close(): Promise<void>;
}

/** An embedded Kafka and PostgreSQL that take clients by TLS only. The registry is that of the integration tests. */
export async function startSecuredStack(registryUrl: string): Promise<SecuredStack> {
  const folder = await mkdtemp(join(tmpdir(), 'waypost-secured-'));
  // As root, Postgres runs as another user, who has to get in.
  await chmod(folder, 0o711);
  const file = async (name: string, pem: string): Promise<string> => {
    await writeFile(join(folder, name), pem);
    return join(folder, name);
  };
  const [authority, stranger] = await Promise.all([createAuthority('Waypost test'), createAuthority('Stranger')]);
  const [server, client] = await Promise.all([authority.issue('server'), authority.issue('client')]);
  const dataDir = await openDataDir(join(folder, 'data'));
  const mutualTlsPort = await dataDir.port('kafka-mutual-tls');
  const login = { username: 'waypost', password: randomBytes(12).toString('hex') };
  const stack = await startDevStack({
    dataDir,
    env: process.env,
    external: { registry: { url: registryUrl } },
    durable: false,
    secured: {
      kafka: { tls: server, ...login, mutualTlsPort },
      postgres: { cert: server.cert, key: server.key, caFile: await file('ca.pem', authority.ca) },
    },
  });
  return {
    authority,
    stranger,
    client,
    kafka: { ...stack.kafka, sasl: { mechanism: 'scram-sha-512', ...login } },
    mutualTls: {
      brokers: [`127.0.0.1:${String(mutualTlsPort)}`],
      clientId: 'secured',
      ssl: { ca: authority.ca, cert: client.cert, key: client.key },
    },
    databaseUrl: stack.databaseUrl,
    file,
    async close() {
      await stack.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
