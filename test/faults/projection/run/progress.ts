import { setTimeout as sleep } from 'node:timers/promises';
import { topics } from '@waypost/contracts';
import { createKafkaBackend, silentLogger, type KafkaSettings } from '@waypost/streams';
import { readPositions } from '../judge/read-rows.js';
import type { Database } from '../stage/database.js';
import type { Projector } from '../stage/projectors.js';

export interface LogProgress {
  /** Offsets of the log of attempts, markers included. */
  written(): Promise<number>;
  /** Resolves with the time it took until the tables have all of their logs and every projector is well; null: it never was. */
  caughtUp(withinMs: number): Promise<{ readonly afterMs: number | null; readonly problems: readonly string[] }>;
  close(): Promise<void>;
}

export interface LogProgressOptions {
  readonly kafka: KafkaSettings;
  readonly partitions: number;
  readonly database: Database;
  readonly projectors: readonly Projector[];
}

const POLL_MS = 200;

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
    const unwell = await Promise.all(projectors.map(({ instance }) => instance.problem()));
    return [...behind, ...unwell.flatMap((problem) => (problem === null ? [] : [`a projector is ${problem}`]))];
  }

  return {
    written: async () => (await ends(attempts)).reduce((sum, end) => sum + end, 0),
    async caughtUp(withinMs) {
      const startedAt = performance.now();
      for (;;) {
        const problems = await whatIsLeft().catch((error: unknown) => [String(error)]);
        const afterMs = performance.now() - startedAt;
        if (problems.length === 0) return { afterMs: Math.round(afterMs), problems };
        if (afterMs > withinMs) return { afterMs: null, problems: problems.map((one) => `stuck: ${one}`) };
        await sleep(POLL_MS);
      }
    },
    close: () => backend.close(),
  };
}
