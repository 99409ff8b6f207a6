import { join, resolve } from 'node:path';
import { runMigrations } from '@waypost/database';
import { defaultCacheDir } from '../../../tools/dev-stack/download-cache.js';
import type { PartContext } from '../../../tools/dev-stack/embedded-part.js';
import { startEmbeddedPostgres } from '../../../tools/dev-stack/postgres/embedded-postgres.js';
import { startGuardian } from '../../../tools/dev-stack/processes/guardian.js';
import type { StackReporter } from '../../../tools/dev-stack/stack-reporter.js';
import { dropData, openBenchFolder } from '../../shared/stack/bench-folder.js';

export type HistoryStack = Awaited<ReturnType<typeof openHistoryStack>>;

interface HistoryStackOptions {
  readonly folder: string;
  /** What the processes may know of the environment. */
  readonly environment: Readonly<Record<string, string>>;
  readonly reporter: StackReporter;
  readonly signal: AbortSignal;
  /** Begin with what an earlier run has left, instead of nothing. */
  readonly keep: boolean;
  /** Delete the data at the end; the logs stay. */
  readonly drop: boolean;
}

const DATABASE = 'waypost';
/** What docs/operations.md says for a history of this size. */
export const TUNING = {
  shared_buffers: '4GB',
  max_wal_size: '16GB',
  checkpoint_timeout: '15min',
  bgwriter_delay: '20ms',
  bgwriter_lru_maxpages: '1000',
  bgwriter_lru_multiplier: '4',
} as const;

/** A PostgreSQL of the benchmark's own with the tables of the history; no Kafka, no registry. */
export async function openHistoryStack(options: HistoryStackOptions) {
  const folder = resolve(options.folder);
  const { keep, drop, environment, reporter, signal } = options;
  const dataDir = await openBenchFolder(folder, { keep });
  const guardian = startGuardian({ mark: dataDir.mark, logFile: join(dataDir.logsDir, 'guardian.log') });
  const started: PartContext['started'] = [];
  const stopProcesses = async (): Promise<void> => {
    await Promise.all(started.map((part) => part.stop()));
    await guardian.close();
    await dataDir.release();
  };
  const abort = (): void => void Promise.all(started.map((part) => part.stop()));
  signal.addEventListener('abort', abort);
  try {
    const context = { dataDir, guardian, reporter, environment, started, onReplaced: () => undefined };
    const postgres = await startEmbeddedPostgres(
      { ...context, cacheDir: defaultCacheDir(environment), java: '' },
      { databases: [DATABASE], durable: true, tuning: TUNING },
    );
    const databaseUrl = postgres.address(DATABASE);
    await runMigrations(databaseUrl);
    return {
      databaseUrl,
      guardian,
      logsDir: dataDir.logsDir,
      postgresPid: () => postgres.process.pid() ?? 0,
      /** A file of the data directory. */
      file: (name: string) => dataDir.file(name),
      async stop() {
        await stopProcesses();
        if (drop) await dropData(folder);
      },
    };
  } catch (error) {
    await stopProcesses();
    throw error;
  } finally {
    signal.removeEventListener('abort', abort);
  }
}
