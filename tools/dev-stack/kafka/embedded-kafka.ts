import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { copyFile, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Download, ensureDownloaded } from '../download-cache.js';
import { type EmbeddedPart, type PartContext, register } from '../embedded-part.js';
import { createManagedProcess, runOnce } from '../processes/managed-process.js';
import { projectFile } from '../project-root.js';
import { StackError } from '../stack-error.js';
import {
  brokerProperties,
  type KafkaSecurity,
  propertiesText,
  scramUsers,
  securedListeners,
} from './broker-properties.js';
import { probeKafka } from './probe-kafka.js';

const POM = 'tools/dev-stack/kafka/pom.xml';
const LOGGING = 'tools/dev-stack/kafka/log4j2.properties';

/** An arbitrary constant: a cluster id only keeps the files of different clusters apart. */
const CLUSTER_ID = 'V2F5cG9zdERldlN0YWNrQQ';

/** C1 only: it starts in half the time. */
const JVM_FLAGS = [
  '-Xms256m',
  '-Xmx768m',
  '-XX:+UseSerialGC',
  '-XX:TieredStopAtLevel=1',
  '-Xshare:auto',
  '-XX:-UsePerfData',
  '-Djava.awt.headless=true',
];

export function kafkaDownload(): Download {
  const pom = projectFile(POM);
  const text = readFileSync(pom, 'utf8');
  const version = /<artifactId>kafka_2\.13<\/artifactId>\s*<version>([^<]+)</.exec(text)?.[1] ?? 'unknown';
  const fingerprint = createHash('sha256').update(text).digest('hex').slice(0, 8);
  return {
    folder: `kafka-${version}-${fingerprint}`,
    title: `Kafka ${version} (43 MB)`,
    mavenArguments: (output) => [
      '-f',
      pom,
      'org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies',
      '-DincludeScope=runtime',
      `-DoutputDirectory=${output}`,
    ],
  };
}

/** A broker on the loopback interface, with its data in `<data dir>/kafka`; with `security` it has no plain listener. */
export async function startEmbeddedKafka(
  context: PartContext,
  security?: KafkaSecurity,
): Promise<EmbeddedPart<string[]>> {
  const { dataDir, reporter, guardian, java } = context;
  if (dataDir.path.includes(',')) {
    throw new StackError('data_dir_unusable', `Kafka takes no comma in ${dataDir.path}: use another --data-dir.`);
  }
  const jars = await ensureDownloaded(context.cacheDir, kafkaDownload(), reporter, context.signal);
  const ports = { broker: await dataDir.port('kafka'), controller: await dataDir.port('kafka-controller') };
  const folder = dataDir.file('kafka');
  const logFile = join(dataDir.logsDir, 'kafka.log');
  const propertiesFile = join(folder, 'server.properties');
  const brokers = [`127.0.0.1:${String(ports.broker)}`];
  const javaArguments = [
    ...JVM_FLAGS,
    `-Dlog4j2.configurationFile=${join(folder, 'log4j2.properties')}`,
    '-cp',
    join(jars, '*'),
  ];

  await mkdir(folder, { recursive: true });
  await copyFile(projectFile(LOGGING), join(folder, 'log4j2.properties'));
  const secured = security === undefined ? {} : securedListeners(ports, security);
  const properties = propertiesText(brokerProperties(ports, join(folder, 'log'), secured));
  await writeFile(propertiesFile, properties, { mode: 0o600 });

  const broker = createManagedProcess({
    name: 'kafka',
    logFile,
    guardian,
    reporter,
    stopGraceMs: 4_000,
    onReplaced: context.onReplaced,
    command: () => ({ file: java, args: [...javaArguments, 'kafka.Kafka', propertiesFile], env: context.environment }),
    probe: () => probeKafka({ brokers, ...(security === undefined ? {} : loginOf(security)) }),
  });
  register(context, broker);
  await reporter.during('Starting Kafka', async () => {
    // Formatting takes a whole Java start, so this file records that it was completed.
    const formatted = join(folder, 'formatted');
    if (!existsSync(formatted)) {
      const format = ['format', '-g', '-t', CLUSTER_ID, '-c', propertiesFile, '--standalone'];
      if (security !== undefined) format.push(...scramUsers(security));
      await runOnce(
        { file: java, args: [...javaArguments, 'kafka.tools.StorageTool', ...format], env: context.environment },
        { name: 'Formatting the storage of Kafka', logFile, guardian },
      );
      await writeFile(formatted, '');
    }
    await broker.start();
  });
  return { address: brokers, process: broker };
}

/** How clients log in at the broker's port. */
export function loginOf({ tls, username, password }: KafkaSecurity) {
  return { ssl: { ca: tls.ca }, sasl: { mechanism: 'plain', username, password } } as const;
}
