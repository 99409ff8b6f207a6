import { topics } from '@waypost/contracts';
import { createDataSource, DatabaseRetry } from '@waypost/database';
import { createDeliveryProjection, createProjectionProgress } from '@waypost/history-store';
import { NO_TRACES } from '@waypost/platform/testing';
import { createKafkaBackend, createTaskManager, silentLogger } from '@waypost/streams';
import { waitOrAbort } from '@waypost/streams/admin';
import { createAttemptsTask } from '../../../apps/history-projector/src/attempts/attempts.task.js';
import { codecsOf } from '../shared/committed-log.js';
import type { Log } from '../shared/stage.js';

export interface RivalOptions {
  readonly databaseUrl: string;
  readonly onFatal: (error: Error) => void;
}

/** A projector that is not coordinated with the others. */
export interface Rival {
  readonly appliedBatches: () => number;
  stop(): Promise<void>;
}

/** Any name but the projector's own: so it is given all partitions, which the projectors have too. */
const GROUP = 'projection-integrity.rival';

/** A projector, but for its group. */
export async function startRival(log: Log, { databaseUrl, onFatal }: RivalOptions): Promise<Rival> {
  const quiet = { info: () => undefined, warn: () => undefined };
  const dataSource = createDataSource(databaseUrl, { poolSize: 8, applicationName: 'waypost history-projector' });
  const database = new DatabaseRetry({ logger: quiet, monotonicMs: () => performance.now(), wait: waitOrAbort });
  const starting = new AbortController();
  await database.run(() => dataSource.initialize(), starting.signal);
  const backend = createKafkaBackend({ kafka: log.kafka, logger: silentLogger, now: Date.now });
  const codec = codecsOf(log).webhookAttempts;
  let appliedBatches = 0;
  const runner = createTaskManager({
    backend,
    groupId: GROUP,
    topics: [topics.webhookAttempts.name],
    logger: silentLogger,
    onFatal,
    now: Date.now,
    createTask: (context) =>
      createAttemptsTask(context, {
        codec,
        tools: {
          database,
          logger: quiet,
          wait: waitOrAbort,
          onFatal,
          monotonicMs: () => performance.now(),
          isSameTopic: () => Promise.resolve(true),
          partitionCount: (topic) => backend.partitionCount(topic),
          logRange: async (of) => ({ start: await backend.startOffset(of), end: await backend.endOffset(of) }),
        },
        projection: createDeliveryProjection({ dataSource, now: Date.now }),
        progress: createProjectionProgress(dataSource),
        quarantine: { put: () => Promise.resolve() },
        nowMs: Date.now,
        traces: NO_TRACES,
        metrics: {
          batchApplied: () => {
            appliedBatches += 1;
          },
          lagMeasured: () => undefined,
          partitionClosed: () => undefined,
        },
      }),
  });
  await runner.start();
  return {
    appliedBatches: () => appliedBatches,
    async stop() {
      await runner.stop();
      await backend.close();
      await dataSource.destroy();
    },
  };
}
