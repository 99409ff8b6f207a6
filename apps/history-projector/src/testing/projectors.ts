import { randomBytes } from 'node:crypto';
import type { DataSource } from 'typeorm';
import { createDataSource, createPageSource, type PageSource, runMigrations } from '@waypost/database';
import {
  createTaskManager,
  type PartitionTask,
  silentLogger,
  type StreamsBackend,
  type TaskContext,
} from '@waypost/streams';
import { DatabaseRetry } from '../database/database-retry.js';
import type { ProjectionTaskTools } from '../projection/projection.task.js';

/** A migrated database of its own on the test server (WAYPOST_TEST_DATABASE_URL), to be projected into. */
export interface ProjectionDatabase {
  readonly url: string;
  readonly reader: DataSource;
  readonly pages: PageSource;
  /** By partition; for a database into which one log is projected. */
  positions(): Promise<number[]>;
  /** Cuts all connections of projectors. */
  cutProjectors(): Promise<void>;
  drop(): Promise<void>;
}

const PROJECTOR = 'projector';

export async function createProjectionDatabase(): Promise<ProjectionDatabase> {
  const server = process.env['WAYPOST_TEST_DATABASE_URL'] ?? '';
  const name = `test_${randomBytes(6).toString('hex')}`;
  const admin = await createDataSource(server).initialize();
  await admin.query(`CREATE DATABASE ${name}`);
  const url = Object.assign(new URL(server), { pathname: `/${name}` }).href;
  await runMigrations(url);
  const reader = await createDataSource(url, { applicationName: 'reader' }).initialize();
  const pages = createPageSource(url);
  return {
    url,
    reader,
    pages,
    async positions() {
      const rows: { next_offset: string }[] = await reader.query(
        'SELECT next_offset FROM projection_positions ORDER BY partition',
      );
      return rows.map(({ next_offset: offset }) => Number(offset));
    },
    async cutProjectors() {
      await reader.query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1', [
        PROJECTOR,
      ]);
    },
    async drop() {
      await pages.close();
      await reader.destroy();
      await admin.query(`DROP DATABASE ${name} WITH (FORCE)`);
      await admin.destroy();
    },
  };
}

export interface ProjectorOptions {
  readonly url: string;
  readonly backend: StreamsBackend;
  readonly groupId: string;
  readonly topic: string;
  readonly createTask: (context: TaskContext, tools: ProjectionTaskTools, dataSource: DataSource) => PartitionTask;
}

export interface Projector {
  readonly fatal: readonly Error[];
  stop(): Promise<void>;
}

/** One projector process, as far as the database and the group can see. It waits shorter than a real one. */
export async function startProjector({
  url,
  backend,
  groupId,
  topic,
  createTask,
}: ProjectorOptions): Promise<Projector> {
  const dataSource = await createDataSource(url, { applicationName: PROJECTOR, poolSize: 4 }).initialize();
  const logger = { info: () => undefined, warn: () => undefined };
  const fatal: Error[] = [];
  const tools: ProjectionTaskTools = {
    database: new DatabaseRetry({ logger, now: () => 0, wait: () => pause(5) }),
    logRange: async (of) => ({ start: await backend.startOffset(of), end: await backend.endOffset(of) }),
    logger,
    now: () => performance.now(),
    wait: () => pause(10),
    onFatal: (error) => fatal.push(error),
  };
  const runner = createTaskManager({
    backend,
    groupId,
    topics: [topic],
    createTask: (context) => createTask(context, tools, dataSource),
    logger: silentLogger,
    onFatal: (error) => fatal.push(error),
  });
  await runner.start();
  return {
    fatal,
    stop: async () => {
      await runner.stop();
      await dataSource.destroy();
    },
  };
}

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
