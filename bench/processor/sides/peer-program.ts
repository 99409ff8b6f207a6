import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  defaultCacheDir,
  type Download,
  ensureDownloaded,
  isDownloaded,
} from '../../../tools/dev-stack/download-cache.js';
import { assertPrerequisites, javaProgram, machineFacts } from '../../../tools/dev-stack/prerequisites.js';
import { describeExit } from '../../../tools/dev-stack/processes/managed-process.js';
import { type ProcessCommand, spawnGuarded } from '../../../tools/dev-stack/processes/spawn-guarded.js';
import { projectFile } from '../../../tools/dev-stack/project-root.js';
import type { StackReporter } from '../../../tools/dev-stack/stack-reporter.js';
import type { BenchStack } from '../../shared/stack/bench-stack.js';
import { INPUT, OUTPUT } from '../stack/bench-topics.js';

type Variables = Readonly<Record<string, string>>;

const LOGGING = '-Dorg.slf4j.simpleLogger.defaultLogLevel=error';
/** Loading and reading are not measured: they start quickly and take little. */
const TOOL_FLAGS = ['-Xmx1g', '-XX:+UseSerialGC'];

export interface PeerProgram {
  /** Resolves with the first line that matches; rejects when the program ends without one. */
  line(pattern: RegExp): Promise<string>;
  /** Everything it has printed. @throws when it fails */
  readonly output: Promise<string>;
  stop(): void;
}

/** Runs the Java programs beside the measured ones: the load, and the reader of the output. */
export class PeerPrograms {
  constructor(
    private readonly peer: Peer,
    private readonly stack: BenchStack,
    private readonly environment: Variables,
    /** Ends every program. */
    private readonly signal: AbortSignal,
  ) {}

  command(program: string, args: readonly string[], variables: Variables, flags: readonly string[]): ProcessCommand {
    const { kafka, registryUrl } = this.stack;
    const shared = { BOOTSTRAP: kafka.brokers.join(','), REGISTRY: registryUrl, INPUT, OUTPUT };
    return {
      file: this.peer.java,
      args: [...flags, LOGGING, '-cp', this.peer.classPath, `peer.${program}`, ...args],
      env: { ...this.environment, ...shared, ...variables },
    };
  }

  start(program: string, args: readonly string[] = [], variables: Variables = {}): PeerProgram {
    this.signal.throwIfAborted();
    const { guardian, logsDir } = this.stack;
    const logFile = `${logsDir}/${program.toLowerCase()}.log`;
    let output = '';
    let heard: () => void = () => undefined;
    const onOutput = (text: string): void => {
      output += text;
      heard();
    };
    const command = { ...this.command(program, args, variables, TOOL_FLAGS), onOutput };
    const { child, exited } = spawnGuarded(command, { guardian, logFile, orphanSignal: 'SIGKILL' });
    const stop = (): void => void child.kill('SIGKILL');
    this.signal.addEventListener('abort', stop);
    const done = exited.then((exit) => {
      this.signal.removeEventListener('abort', stop);
      this.signal.throwIfAborted();
      if (exit.code === 0) return output;
      throw new Error(`${program} failed (${describeExit(exit)}); see ${logFile}.`);
    });
    done.catch(() => undefined);
    return {
      output: done,
      line: (pattern) =>
        new Promise((resolve, reject) => {
          heard = () => {
            const line = output.split('\n').find((one) => pattern.test(one));
            if (line !== undefined) resolve(line);
          };
          heard();
          done.then(() => reject(new Error(`${program} ended without printing ${String(pattern)}.`)), reject);
        }),
      stop,
    };
  }

  run(program: string, args: readonly string[] = [], variables: Variables = {}): Promise<string> {
    return this.start(program, args, variables).output;
  }
}

/** The built programs of bench/processor/kafka-streams. */
export interface Peer {
  readonly java: string;
  readonly classPath: string;
}

const FOLDER = 'bench/processor/kafka-streams';
const SCHEMAS = ['telemetry.pings-value', 'fleet.events-value'];

/** Builds the peer with Maven unless the cache has what its sources and the schemas make. */
export async function preparePeer(env: NodeJS.ProcessEnv, reporter: StackReporter): Promise<Peer> {
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
