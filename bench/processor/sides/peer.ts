import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectFile, type StackReporter } from '../../../tools/dev-stack/index.js';
import {
  defaultCacheDir,
  ensureDownloaded,
  isDownloaded,
  type Download,
} from '../../../tools/dev-stack/download-cache.js';
import { assertPrerequisites, javaProgram, machineFacts } from '../../../tools/dev-stack/prerequisites.js';

type Environment = Readonly<Record<string, string | undefined>>;

/** The built programs of bench/peers/kafka-streams. */
export interface Peer {
  readonly java: string;
  readonly classPath: string;
}

const FOLDER = 'bench/peers/kafka-streams';
const SCHEMAS = ['telemetry.pings-value', 'fleet.events-value'];

/** Builds the peer with Maven unless the cache has what its sources and the schemas make. */
export async function preparePeer(env: Environment, reporter: StackReporter): Promise<Peer> {
  const java = javaProgram(env['JAVA_HOME']);
  const cacheDir = defaultCacheDir(env);
  const built = peerDownload();
  await assertPrerequisites({ java: true, maven: !isDownloaded(cacheDir, built) }, machineFacts(java));
  const folder = await ensureDownloaded(cacheDir, built, reporter);
  return { java, classPath: `${join(folder, 'peer.jar')}:${join(folder, 'lib', '*')}` };
}

function peerDownload(): Download {
  const pom = projectFile(`${FOLDER}/pom.xml`);
  return {
    folder: `bench-kafka-streams-${sourcesFingerprint()}`,
    title: 'Kafka Streams and building the peer',
    mavenArguments: (output) => ['-f', pom, 'package', `-Dpeer.build=${output}`],
  };
}

function sourcesFingerprint(): string {
  const sources = `${FOLDER}/src/main/java/peer`;
  const files = [
    `${FOLDER}/pom.xml`,
    ...readdirSync(projectFile(sources)).map((name) => `${sources}/${name}`),
    ...SCHEMAS.map((subject) => `schemas/${subject}.avsc`),
  ];
  const hash = createHash('sha256');
  for (const file of files.sort()) hash.update(`${file}\n`).update(readFileSync(projectFile(file)));
  return hash.digest('hex').slice(0, 12);
}
