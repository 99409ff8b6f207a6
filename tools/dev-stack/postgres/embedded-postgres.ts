import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chown, mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { databaseAddress } from '@waypost/database';
import { readJsonFile, writeJsonFile } from '../data-dir/data-dir.js';
import { type EmbeddedPart, type PartContext, register } from '../embedded-part.js';
import { createManagedProcess, runOnce } from '../processes/managed-process.js';
import { clusterPlace, type UserIds } from './cluster-place.js';
import { databaseUser, forgetDeadPostmaster, type PostgresPrograms, postgresPrograms } from './programs.js';

const SUPERUSER = 'waypost';

export interface PostgresSettings {
  /** Databases that exist when the part is ready. */
  readonly databases: readonly string[];
  /** false: a power cut may damage the data, which tests do not mind; a killed process never does. */
  readonly durable: boolean;
  /** If given, every connection has to use TLS. */
  readonly tls?: PostgresTls;
  /** Settings of postgresql.conf, for a server with more work than a demonstration. */
  readonly tuning?: Readonly<Record<string, string>>;
}

export interface PostgresTls {
  /** PEM texts of the server. */
  readonly cert: string;
  readonly key: string;
  /** A file with the PEM of the authority that signed it, for clients. */
  readonly caFile: string;
}

/** The address is a function from a database's name to its URL. */
export type PostgresAddress = (database: string) => string;

/** A PostgreSQL on the loopback interface, with its data in `<data dir>/postgres`. */
export async function startEmbeddedPostgres(
  context: PartContext,
  settings: PostgresSettings,
): Promise<EmbeddedPart<PostgresAddress>> {
  const { dataDir, reporter, guardian } = context;
  const user = await databaseUser();
  const programs = await postgresPrograms(user);
  const note = (line: string): void => reporter.note(line);
  const place = await clusterPlace({ folder: dataDir.file('postgres'), user, note });
  const cluster = join(place, 'cluster');
  const password = await passwordFor(dataDir.file('postgres-password.json'));
  const port = await dataDir.port('postgres');
  const logFile = join(dataDir.logsDir, 'postgres.log');
  const { tls } = settings;
  const query = tls === undefined ? '' : `?sslmode=verify-full&sslrootcert=${encodeURIComponent(tls.caFile)}`;
  const address: PostgresAddress = (database) =>
    `postgres://${SUPERUSER}:${password}@127.0.0.1:${String(port)}/${database}${query}`;
  const tlsFlags = tls === undefined ? [] : await writeTls(place, tls, user);

  const server = createManagedProcess({
    name: 'postgres',
    logFile,
    guardian,
    reporter,
    // "Fast" shutdown: connections end now, the data is written. If left behind, it ends itself and its children.
    stopSignal: 'SIGINT',
    orphanSignal: 'SIGQUIT',
    stopGraceMs: 2_000,
    onReplaced: context.onReplaced,
    command: async () => {
      await forgetDeadPostmaster(cluster);
      const args = ['-D', cluster, '-p', String(port), ...flags(settings), ...tlsFlags];
      return { file: programs.postgres, args, env: context.environment, user, cwd: place };
    },
    probe: () => probePostgres(address, settings.databases),
  });
  register(context, server);
  await reporter.during('Starting PostgreSQL', async () => {
    if (!existsSync(cluster)) await createCluster({ programs, user, place, cluster, password, logFile, context });
    await server.start();
  });
  return { address, process: server };
}

function flags({ durable, tuning = {} }: PostgresSettings): string[] {
  const settings = [
    'listen_addresses=127.0.0.1',
    'unix_socket_directories=',
    'max_connections=200',
    'shared_buffers=128MB',
    'timezone=UTC',
    'log_timezone=UTC',
    ...(durable ? [] : ['fsync=off', 'full_page_writes=off']),
    // The last value of a name counts.
    ...Object.entries(tuning).map(([name, value]) => `${name}=${value}`),
  ];
  return settings.flatMap((setting) => ['-c', setting]);
}

/** @returns the flags of a server that accepts only TLS */
async function writeTls(place: string, tls: PostgresTls, user: UserIds | undefined): Promise<string[]> {
  const files = {
    ssl_cert_file: ['server.crt', tls.cert],
    ssl_key_file: ['server.key', tls.key],
    hba_file: ['pg_hba.conf', 'hostssl all all 127.0.0.1/32 scram-sha-256\n'],
  } as const;
  const settings = ['ssl=on'];
  for (const [setting, [name, text]] of Object.entries(files)) {
    const file = join(place, name);
    // PostgreSQL refuses a key that others may read.
    await writeFile(file, text, { mode: 0o600 });
    if (user !== undefined) await chown(file, user.uid, user.gid);
    settings.push(`${setting}=${file}`);
  }
  return settings.flatMap((setting) => ['-c', setting]);
}

interface NewCluster {
  readonly programs: PostgresPrograms;
  readonly user: UserIds | undefined;
  readonly place: string;
  readonly cluster: string;
  readonly password: string;
  readonly logFile: string;
  readonly context: PartContext;
}

/** Complete or absent: an interrupted initdb must not be taken for a cluster by the next start. */
async function createCluster(options: NewCluster): Promise<void> {
  const { programs, user, place, cluster, password, logFile, context } = options;
  const unfinished = join(place, 'unfinished');
  const passwordFile = join(place, 'initial-password');
  await rm(unfinished, { recursive: true, force: true });
  await mkdir(unfinished, { mode: 0o700 });
  await writeFile(passwordFile, `${password}\n`, { mode: 0o600 });
  if (user !== undefined) {
    await chown(unfinished, user.uid, user.gid);
    await chown(passwordFile, user.uid, user.gid);
  }
  const args = [
    `--pgdata=${unfinished}`,
    `--username=${SUPERUSER}`,
    `--pwfile=${passwordFile}`,
    '--auth=scram-sha-256',
    '--encoding=UTF8',
    // Sorts and compares the same on every machine.
    '--locale=C',
    '--locale-provider=builtin',
    '--builtin-locale=C.UTF-8',
  ];
  try {
    const command = { file: programs.initdb, args, env: context.environment, user, cwd: place };
    await runOnce(command, { name: 'Creating the database cluster', logFile, guardian: context.guardian });
  } finally {
    await rm(passwordFile, { force: true });
  }
  await rename(unfinished, cluster);
}

async function passwordFor(file: string): Promise<string> {
  const saved = (await readJsonFile(file)) as { readonly password: string } | null;
  if (saved !== null) return saved.password;
  const password = randomBytes(18).toString('hex');
  await writeJsonFile(file, { password });
  return password;
}

/** Runs SQL; creates missing databases. */
async function probePostgres(address: PostgresAddress, databases: readonly string[]): Promise<void> {
  const { url, ssl } = databaseAddress(address('postgres'));
  const client = new pg.Client({ connectionString: url, ssl, connectionTimeoutMillis: 2_000 });
  client.on('error', () => undefined);
  await client.connect();
  try {
    const present = await client.query<{ datname: string }>('SELECT datname FROM pg_database');
    const names = new Set(present.rows.map((row) => row.datname));
    for (const name of databases.filter((wanted) => !names.has(wanted))) {
      await client.query(`CREATE DATABASE ${client.escapeIdentifier(name)}`);
    }
  } finally {
    await client.end();
  }
}

/** Connects to an external database. */
export async function probeForeignPostgres(databaseUrl: string): Promise<void> {
  const { url, ssl } = databaseAddress(databaseUrl);
  const client = new pg.Client({ connectionString: url, ssl, connectionTimeoutMillis: 5_000 });
  client.on('error', () => undefined);
  await client.connect();
  try {
    await client.query('SELECT 1');
  } finally {
    await client.end();
  }
}
