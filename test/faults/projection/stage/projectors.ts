import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { KafkaSettings } from '@waypost/streams';
import type { DataDir, Guardian } from '../../../../tools/dev-stack/index.js';
import { instanceEnvironment, stackEnvironment } from '../../../../tools/dev-stack/start/app-environment.js';
import { openLink, type Link } from '../../processor/network/link.js';
import { createProcessorInstance, type ProcessorInstance } from '../../processor/processors/processor-instance.js';
import type { Database } from './database.js';

export interface ProjectorsOptions {
  readonly count: number;
  readonly kafka: KafkaSettings;
  readonly registryUrl: string;
  readonly database: Database;
  readonly dataDir: DataDir;
  readonly guardian: Guardian;
  /** The built main file of history-projector. */
  readonly program: string;
  /** Of a user's shell. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** A process of history-projector, and its way to the database. */
export interface Projector {
  readonly instance: ProcessorInstance;
  readonly link: Link;
  /** Ends that nobody has asked for, but for starts that failed: those are the supervisor's to repeat. */
  unexpectedExits(): Promise<readonly string[]>;
}

const START_FAILED = /"event":"app_start_failed"/g;
/** Of a start that failed; an error that nobody caught has it too. */
const FAILED = /exit code 1$/;

export async function createProjectors(options: ProjectorsOptions): Promise<Projector[]> {
  const projectors: Projector[] = [];
  for (let number = 0; number < options.count; number += 1) projectors.push(await createProjector(options, number));
  return projectors;
}

async function createProjector(options: ProjectorsOptions, number: number): Promise<Projector> {
  const { kafka, registryUrl, database, dataDir, guardian, program, env } = options;
  const name = `history-projector-${String(number)}`;
  const port = await dataDir.port(`database-of-${name}`);
  const link = await openLink(port, database.port);
  const databaseUrl = Object.assign(new URL(database.url), { port: String(port) }).href;
  const shared = stackEnvironment(env, { kafka, registryUrl, databaseUrl }, { sealingKey: '', pageTokenKey: '' });
  const logFile = join(dataDir.logsDir, `${name}.log`);
  const exits: string[] = [];
  const instance = createProcessorInstance({
    ...{ instance: number, program, guardian, logFile },
    onUnexpectedExit: (what) => void exits.push(`${name}: ${what}`),
    adminPorts: [await dataDir.port(`admin-of-${name}-a`), await dataDir.port(`admin-of-${name}-b`)],
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
