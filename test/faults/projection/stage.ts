import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { instanceEnvironment, stackEnvironment } from '../../../tools/dev-stack/start/app-environment.js';
import type { AppInstance } from '../shared/app-instance.js';
import type { Place } from '../shared/fault-suite.js';
import type { KafkaCluster } from '../shared/kafka-cluster.js';
import { type Link, openLink } from '../shared/link.js';
import { createInstance, type KafkaStage, type Log, openKafkaStage } from '../shared/stage.js';
import { type Database, openDatabase } from './database.js';

const PROJECTORS = [0, 1];

/** A broker with topics, a database, and the projectors that may run on them. */
export interface ProjectionStage extends KafkaStage {
  readonly database: Database;
  readonly projectors: readonly Projector[];
  stop(): Promise<void>;
}

/** @param program the built main file of history-projector */
export async function openProjectionStage(place: Place, program: string): Promise<ProjectionStage> {
  const { kafka, registryUrl, cluster, registry } = await openKafkaStage(place, {
    brokers: 1,
    instances: PROJECTORS.length,
  });
  const database = await openDatabase(place);
  const options = { kafka, registryUrl, cluster, database, program };
  const projectors = await createProjectors(place, { ...options, numbers: PROJECTORS });
  return {
    kafka,
    registryUrl,
    cluster,
    registry,
    database,
    projectors,
    async stop() {
      await stopProjectors(projectors);
      await database.close();
      await cluster.stop();
    },
  };
}

export async function stopProjectors(projectors: readonly Projector[]): Promise<void> {
  await Promise.all(projectors.map(({ instance }) => instance.kill()));
  await Promise.all(projectors.map(({ link }) => link.close()));
}

export interface ProjectorsOptions extends Log {
  /** Those of the instances on the cluster. */
  readonly numbers: readonly number[];
  /** Each projector reaches its brokers over links of its own; absent: directly. */
  readonly cluster?: KafkaCluster;
  readonly database: Database;
  /** The built main file of history-projector; a function is asked at every start of a process. */
  readonly program: string | ((instance: number) => string);
}

/** A process of history-projector, and its way to the database. */
export interface Projector {
  readonly instance: AppInstance;
  readonly link: Link;
  /** Ends that nothing has asked for, but for starts that failed: those are the supervisor's to repeat. */
  unexpectedExits(): Promise<readonly string[]>;
}

const START_FAILED = /"event":"app_start_failed"/g;
/** Of a start that failed; an uncaught error has it too. */
const FAILED = /exit code 1$/;

export async function createProjectors(place: Place, options: ProjectorsOptions): Promise<Projector[]> {
  const projectors: Projector[] = [];
  for (const number of options.numbers) projectors.push(await createProjector(place, options, number));
  return projectors;
}

async function createProjector(place: Place, options: ProjectorsOptions, number: number): Promise<Projector> {
  const { dataDir, env } = place;
  const { registryUrl, cluster, database, program } = options;
  const brokers = cluster?.addressesOf(number) ?? options.kafka.brokers;
  const name = `history-projector-${String(number)}`;
  const port = await dataDir.port(`database-of-${name}`);
  const link = await openLink(port, database.port);
  const databaseUrl = Object.assign(new URL(database.url), { port: String(port) }).href;
  const shared = stackEnvironment(
    env,
    { kafka: { ...options.kafka, brokers }, registryUrl, databaseUrl },
    { sealingKey: '', pageTokenKey: '', adminKey: '' },
  );
  const logFile = join(dataDir.logsDir, `${name}.log`);
  const exits: string[] = [];
  const instance = await createInstance(place, {
    name,
    instance: number,
    program,
    onUnexpectedExit: (what) => void exits.push(`${name}: ${what}`),
    env: () => instanceEnvironment(shared, name, { adminPort: 0 }),
  });
  return {
    instance,
    link,
    async unexpectedExits() {
      const failedStarts = (await readFile(logFile, 'utf8').catch(() => '')).match(START_FAILED)?.length ?? 0;
      const failures = exits.filter((exit) => FAILED.test(exit));
      return [...exits.filter((exit) => !FAILED.test(exit)), ...failures.slice(failedStarts)];
    },
  };
}
