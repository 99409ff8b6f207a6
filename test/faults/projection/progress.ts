import { topics } from '@waypost/contracts';
import { createKafkaBackend, silentLogger } from '@waypost/streams';
import { unreadyInstances } from '../shared/app-instance.js';
import { PARTITIONS } from '../shared/stage.js';
import { readPositions } from './rows.js';
import type { ProjectionStage } from './stage.js';

export interface LogProgress {
  /** Offsets of the attempt log, markers included. */
  written(): Promise<number>;
  /** Partitions that the tables do not have all of, and projectors that are not ready. */
  readonly whatIsLeft: () => Promise<string[]>;
  close(): Promise<void>;
}

export function followProgress({
  kafka,
  database,
  projectors,
}: Pick<ProjectionStage, 'kafka' | 'database' | 'projectors'>): LogProgress {
  const attempts = topics.webhookAttempts.name;
  const backend = createKafkaBackend({ kafka, logger: silentLogger, now: Date.now });
  const ends = (topic: string): Promise<number[]> =>
    Promise.all(Array.from({ length: PARTITIONS }, (_, partition) => backend.endOffset({ topic, partition })));

  async function behindIn(topic: string): Promise<string[]> {
    const positions = await database.query((client) => readPositions(client, topic));
    return (await ends(topic)).flatMap((end, partition) => {
      const at = positions.get(partition) ?? 0;
      return at === end ? [] : [`${topic}-${String(partition)} is projected to ${String(at)} of ${String(end)}`];
    });
  }

  return {
    written: async () => (await ends(attempts)).reduce((sum, end) => sum + end, 0),
    async whatIsLeft() {
      const logs = [attempts, topics.telemetryPings.name, topics.webhookDeliveries.name];
      const behind = await Promise.all(logs.map(behindIn));
      return [...behind.flat(), ...(await unreadyInstances(projectors.map(({ instance }) => instance)))];
    },
    close: () => backend.close(),
  };
}
