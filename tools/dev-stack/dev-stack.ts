import { join } from 'node:path';
import type { KafkaConfig } from 'kafkajs';
import { databaseRefusal } from '@waypost/database';
import { kafkaRefused, probeKafkaAccess } from '@waypost/platform/without-nest';
import type { KafkaSettings } from '@waypost/streams';
import type { DataDir } from './data-dir/data-dir.js';
import { defaultCacheDir, isDownloaded, JAVA_LOCALE } from './download-cache.js';
import type { PartContext } from './embedded-part.js';
import type { KafkaSecurity } from './kafka/broker-properties.js';
import { kafkaDownload, loginOf, startEmbeddedKafka } from './kafka/embedded-kafka.js';
import { probeForeignKafka } from './kafka/probe-kafka.js';
import { type PostgresTls, probeForeignPostgres, startEmbeddedPostgres } from './postgres/embedded-postgres.js';
import { assertPrerequisites, javaProgram, machineFacts } from './prerequisites.js';
import { type Guardian, startGuardian } from './processes/guardian.js';
import type { ManagedProcess } from './processes/managed-process.js';
import { probeForeignRegistry, registryDownload, startEmbeddedRegistry } from './registry/embedded-registry.js';
import { StackError } from './stack-error.js';
import { silentReporter, type StackReporter } from './stack-reporter.js';

type Environment = Readonly<Record<string, string | undefined>>;

/** Parts that run elsewhere: the stack connects to them but does not start them. */
export interface ExternalParts {
  readonly kafka?: KafkaSettings | undefined;
  /** Base URL of the Confluent API, and the PEM of its certificate authorities. */
  readonly registry?: { readonly url: string; readonly ca?: string } | undefined;
  readonly databaseUrl?: string | undefined;
}

export interface DevStackOptions {
  /** Everything that outlives the processes. The stack releases it when it stops or fails to start. */
  readonly dataDir: DataDir;
  /** The downloads of all stacks. Default: WAYPOST_CACHE_DIR, or `waypost` in the user's cache folder. */
  readonly cacheDir?: string;
  /** The environment of this process, of which PATH, HOME and JAVA_HOME are used. */
  readonly env: Environment;
  readonly external?: ExternalParts;
  /** false: faster, but a power cut may damage the database. For tests. */
  readonly durable?: boolean;
  /** The embedded Kafka and PostgreSQL accept only TLS. For tests. */
  readonly secured?: SecuredParts;
  readonly reporter?: StackReporter;
  /** Called when a part has died and was restarted under another process id. */
  readonly onReplaced?: () => void;
  /** Ends a start in progress. */
  readonly signal?: AbortSignal;
}

export interface SecuredParts {
  readonly kafka: KafkaSecurity;
  readonly postgres?: PostgresTls;
}

export interface DevStack {
  readonly kafka: KafkaSettings;
  /** Base of the Confluent API. */
  readonly registryUrl: string;
  /** The certificate authority of an external registry that has its own. */
  readonly registryCa?: string | undefined;
  readonly databaseUrl: string;
  /** Watches over the parts, and over further processes of the stack. */
  readonly guardian: Guardian;
  /** Process ids of the embedded parts: `kafka`, `registry`, `postgres`. */
  pids(): Record<string, number[]>;
  /** Stops the embedded parts, the registry before its database, and frees the data directory. */
  stop(): Promise<void>;
}

/** The parts get only these: their own settings in a developer's environment must not change them. */
const PASSED_ON = ['PATH', 'HOME', 'JAVA_HOME', 'TMPDIR', 'LANG', 'TZ'];
const FOREIGN_TIMEOUT_MS = 15_000;

/**
 * Starts the parts that are not external: Kafka, the schema registry, PostgreSQL. Resolves when all have done real work.
 * @throws StackError with one sentence for the user; nothing is left running then.
 */
export async function startDevStack(options: DevStackOptions): Promise<DevStack> {
  const { dataDir, external = {} } = options;
  const ending = new AbortController();
  const context = createContext(options, ending.signal);
  const { guardian } = context;
  const stop = once(async () => {
    await stopParts(context.started);
    await guardian.close();
    await dataDir.release();
  });
  ending.signal.addEventListener('abort', () => void stopParts(context.started));
  const abort = (): void => ending.abort(options.signal?.reason);
  options.signal?.addEventListener('abort', abort);
  try {
    options.signal?.throwIfAborted();
    await assertPrerequisites(needsOf(external, context.cacheDir), machineFacts(context.java));
    const [kafka, stores] = await allOrFirstFailure(
      [kafkaOf(context, external, options.secured?.kafka), storesOf(context, options)],
      (reason) => ending.abort(reason),
    );
    options.signal?.throwIfAborted();
    return { kafka, ...stores, guardian, pids: () => pidsOf(context.started), stop };
  } catch (error) {
    await stop();
    throw error;
  } finally {
    options.signal?.removeEventListener('abort', abort);
  }
}

function createContext({ dataDir, env, ...options }: DevStackOptions, signal: AbortSignal): PartContext {
  return {
    dataDir,
    cacheDir: options.cacheDir ?? defaultCacheDir(env),
    java: javaProgram(env['JAVA_HOME']),
    guardian: startGuardian({ mark: dataDir.mark, logFile: join(dataDir.logsDir, 'guardian.log') }),
    reporter: options.reporter ?? silentReporter,
    environment: { ...Object.fromEntries(PASSED_ON.map((name) => [name, env[name]])), ...JAVA_LOCALE },
    started: [],
    onReplaced: options.onReplaced ?? (() => undefined),
    signal,
  };
}

function needsOf(external: ExternalParts, cacheDir: string): { java: boolean; maven: boolean } {
  const downloads = [
    ...(external.kafka === undefined ? [kafkaDownload()] : []),
    ...(external.registry === undefined ? [registryDownload()] : []),
  ];
  return { java: downloads.length > 0, maven: downloads.some((download) => !isDownloaded(cacheDir, download)) };
}

async function kafkaOf(
  context: PartContext,
  external: ExternalParts,
  security: KafkaSecurity | undefined,
): Promise<KafkaSettings> {
  if (external.kafka !== undefined) {
    const settings = external.kafka;
    const access = await probeKafkaAccess(settings);
    if (access.type === 'refused') throw new StackError('external_part_unreachable', kafkaRefused(access).message);
    await reach(`Kafka at ${settings.brokers.join(',')} (KAFKA_BROKERS)`, () =>
      probeForeignKafka(clientConfig(settings)),
    );
    return settings;
  }
  const { address } = await startEmbeddedKafka(context, security);
  return { brokers: address, clientId: 'waypost', ...(security === undefined ? {} : loginOf(security)) };
}

type Stores = Pick<DevStack, 'registryUrl' | 'registryCa' | 'databaseUrl'>;

/** The embedded registry keeps its schemas in the embedded database, even if the applications have another one. */
async function storesOf(context: PartContext, options: DevStackOptions): Promise<Stores> {
  const { external: { registry, databaseUrl } = {}, durable = true, secured } = options;
  if (databaseUrl !== undefined) await reach('The database of DATABASE_URL', () => probeForeignPostgres(databaseUrl));
  if (registry !== undefined) {
    await reach('The schema registry of SCHEMA_REGISTRY_URL', () => probeForeignRegistry(registry));
    if (databaseUrl !== undefined) return { registryUrl: registry.url, registryCa: registry.ca, databaseUrl };
  }
  const postgres = await startEmbeddedPostgres(context, {
    databases: ['waypost', 'registry'],
    durable,
    ...(secured?.postgres === undefined ? {} : { tls: secured.postgres }),
  });
  const registryUrl = registry?.url ?? (await startEmbeddedRegistry(context, postgres.address('registry'))).address;
  return { registryUrl, registryCa: registry?.ca, databaseUrl: databaseUrl ?? postgres.address('waypost') };
}

async function reach(what: string, probe: () => Promise<void>): Promise<void> {
  const late = AbortSignal.timeout(FOREIGN_TIMEOUT_MS);
  try {
    await Promise.race([
      probe(),
      new Promise<never>((_resolve, reject) => late.addEventListener('abort', () => reject(new Error('no answer')))),
    ]);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const message = databaseRefusal(error) ?? `${what} cannot be used: ${reason.replace(/\.$/, '')}.`;
    throw new StackError('external_part_unreachable', message, { cause: error });
  }
}

/** Converts the settings to kafkajs's form. */
export function clientConfig({ brokers, clientId, ssl, sasl }: KafkaSettings): KafkaConfig {
  return {
    brokers: [...brokers],
    clientId,
    ...(ssl === undefined ? {} : { ssl }),
    ...(sasl === undefined ? {} : { sasl: sasl as NonNullable<KafkaConfig['sasl']> }),
  };
}

/** Waits for all even if one fails, so that nothing is still starting when the caller cleans up. */
async function allOrFirstFailure<A, B>(
  work: readonly [Promise<A>, Promise<B>],
  onFailure: (reason: unknown) => void,
): Promise<[A, B]> {
  for (const part of work) part.catch(onFailure);
  const [first, second] = await Promise.allSettled(work);
  const failures = [first, second]
    .filter((result) => result.status === 'rejected')
    .map((result) => result.reason as unknown);
  // Parts stopped because of a failure fail too, but say nothing about the cause.
  if (failures.length > 0) throw failures.find((failure) => failure instanceof StackError) ?? failures[0];
  return Promise.all(work);
}

async function stopParts(parts: readonly ManagedProcess[]): Promise<void> {
  const database = parts.filter((part) => part.name === 'postgres');
  const registry = parts.filter((part) => part.name === 'registry');
  const kafka = parts.filter((part) => part.name === 'kafka');
  const stopAll = (some: readonly ManagedProcess[]) => Promise.all(some.map((part) => part.stop()));
  await Promise.all([stopAll(kafka), stopAll(registry).then(() => stopAll(database))]);
}

function pidsOf(parts: readonly ManagedProcess[]): Record<string, number[]> {
  return Object.fromEntries(parts.map((part) => [part.name, [part.pid()].filter((pid) => pid !== undefined)] as const));
}

function once(work: () => Promise<void>): () => Promise<void> {
  let done: Promise<void> | undefined;
  return () => (done ??= work());
}
