import { topics } from '@waypost/contracts';
import { createKafkaBackend, type KafkaSettings, silentLogger } from '@waypost/streams';
import type { Database } from './database.js';
import { readPositions } from './rows.js';
import type { Projector } from './stage.js';
import { unreadyInstances } from '../shared/app-instance.js';
import { drain, type Drained } from '../shared/fault-run.js';

export interface LogProgress {
  /** Offsets of the log of attempts, markers included. */
  written(): Promise<number>;
  /** Resolves with the time it took until the tables have all of their logs and every projector is well; null: it never was. */
  caughtUp(withinMs: number): Promise<Drained>;
  close(): Promise<void>;
}

export interface LogProgressOptions {
  readonly kafka: KafkaSettings;
  readonly partitions: number;
  readonly database: Database;
  readonly projectors: readonly Projector[];
}

export function followProgress({ kafka, partitions, database, projectors }: LogProgressOptions): LogProgress {
  const attempts = topics.webhookAttempts.name;
  const backend = createKafkaBackend({ kafka, logger: silentLogger, now: Date.now });
  const ends = (topic: string): Promise<number[]> =>
    Promise.all(Array.from({ length: partitions }, (_, partition) => backend.endOffset({ topic, partition })));

  async function behindIn(topic: string): Promise<string[]> {
    const positions = await database.query((client) => readPositions(client, topic));
    return (await ends(topic)).flatMap((end, partition) => {
      const at = positions.get(partition) ?? 0;
      return at === end ? [] : [`${topic}-${String(partition)} is projected to ${String(at)} of ${String(end)}`];
    });
  }

  async function whatIsLeft(): Promise<string[]> {
    const behind = [...(await behindIn(attempts)), ...(await behindIn(topics.telemetryPings.name))];
    return [...behind, ...(await unreadyInstances(projectors.map(({ instance }) => instance)))];
  }

  return {
    written: async () => (await ends(attempts)).reduce((sum, end) => sum + end, 0),
    caughtUp: (withinMs) => drain(whatIsLeft, withinMs),
    close: () => backend.close(),
  };
}
