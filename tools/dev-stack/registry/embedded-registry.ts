import { join } from 'node:path';
import { createSchemaRegistry, type SchemaRegistryOptions } from '@waypost/contracts';
import { type Download, ensureDownloaded } from '../download-cache.js';
import { type EmbeddedPart, type PartContext, register } from '../embedded-part.js';
import { createManagedProcess } from '../processes/managed-process.js';

/** Runs on Java 17; newer releases need 21. */
const VERSION = '3.0.9';

/** The registry's own class path is small; the heap is for schemas, of which there are few. */
const JVM_FLAGS = [
  '-Xms64m',
  '-Xmx384m',
  '-XX:+UseSerialGC',
  '-XX:TieredStopAtLevel=1',
  '-Xshare:auto',
  '-XX:-UsePerfData',
  '-Djava.awt.headless=true',
];

export function registryDownload(): Download {
  return {
    folder: `apicurio-registry-${VERSION}`,
    title: `Apicurio Registry ${VERSION} (109 MB)`,
    mavenArguments: (output) => [
      // The archive's descriptor names a parent that was never published. Newer plugins insist on reading it.
      'org.apache.maven.plugins:maven-dependency-plugin:2.8:unpack',
      `-Dartifact=io.apicurio:apicurio-registry-app:${VERSION}:tar.gz:all`,
      `-DoutputDirectory=${output}`,
    ],
  };
}

/** A schema registry that keeps its schemas and ids in a database, so that they survive restarts. The address is its Confluent API. */
export async function startEmbeddedRegistry(context: PartContext, databaseUrl: string): Promise<EmbeddedPart<string>> {
  const { dataDir, reporter } = context;
  const files = await ensureDownloaded(context.cacheDir, registryDownload(), reporter, context.signal);
  const port = await dataDir.port('registry');
  const url = `http://127.0.0.1:${String(port)}/apis/ccompat/v7`;
  const registry = createManagedProcess({
    name: 'registry',
    logFile: join(dataDir.logsDir, 'registry.log'),
    guardian: context.guardian,
    reporter,
    stopGraceMs: 2_000,
    onReplaced: context.onReplaced,
    command: () => ({
      file: context.java,
      args: [...JVM_FLAGS, '-jar', join(files, `apicurio-registry-app-${VERSION}-runner.jar`)],
      cwd: dataDir.path,
      env: { ...context.environment, ...registryEnvironment(port, new URL(databaseUrl)) },
    }),
    probe: () => probeRegistry(url),
  });
  register(context, registry);
  await reporter.during('Starting the schema registry', () => registry.start());
  return { address: url, process: registry };
}

function registryEnvironment(port: number, database: URL): Record<string, string> {
  return {
    QUARKUS_HTTP_HOST: '127.0.0.1',
    QUARKUS_HTTP_PORT: String(port),
    QUARKUS_HTTP_ACCESS_LOG_ENABLED: 'false',
    APICURIO_STORAGE_KIND: 'sql',
    APICURIO_STORAGE_SQL_KIND: 'postgresql',
    APICURIO_DATASOURCE_URL: `jdbc:postgresql://${database.host}${database.pathname}`,
    APICURIO_DATASOURCE_USERNAME: decodeURIComponent(database.username),
    APICURIO_DATASOURCE_PASSWORD: decodeURIComponent(database.password),
  };
}

const CONTENT_TYPE = 'application/vnd.schemaregistry.v1+json';
const SUBJECT = 'dev-stack.probe';
const SCHEMA = JSON.stringify({ type: 'enum', name: 'DevStackProbe', symbols: ['READY'] });
const TIMEOUT_MS = 10_000;

/** Registers a schema, reads it back by its id and removes its subject. */
async function probeRegistry(url: string): Promise<void> {
  const subject = `${url}/subjects/${SUBJECT}`;
  const { id } = (await ask(`${subject}/versions`, 'POST', { schema: SCHEMA })) as { id: number };
  await ask(`${url}/schemas/ids/${String(id)}`, 'GET');
  await ask(subject, 'DELETE');
  await ask(`${subject}?permanent=true`, 'DELETE');
}

/** Connects to an external registry, and leaves nothing in it. */
export async function probeForeignRegistry(registry: SchemaRegistryOptions): Promise<void> {
  await createSchemaRegistry({ ...registry, timeoutMs: TIMEOUT_MS }).schemaById(1);
}

async function ask(address: string, method: string, body?: object): Promise<unknown> {
  const url = new URL(address);
  const credentials =
    url.username === '' ? undefined : `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`;
  url.username = '';
  url.password = '';
  const response = await fetch(url, {
    method,
    headers: {
      'content-type': CONTENT_TYPE,
      ...(credentials === undefined ? {} : { authorization: `Basic ${Buffer.from(credentials).toString('base64')}` }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  const text = await response.text();
  if (!response.ok)
    throw new Error(`${method} ${url.pathname} answers ${String(response.status)}: ${text.slice(0, 200)}`);
  return JSON.parse(text);
}
