import { resolveBatch, topics } from '@waypost/contracts';
import type { ReplayProgress, WebhookReplay } from '@waypost/domain';
import { createKafkaBackend, silentLogger } from '@waypost/streams';
import { readToEnd } from '@waypost/streams/admin';
import { codecsOf } from '../shared/committed-log.js';
import { type Log, PARTITIONS } from '../shared/stage.js';

/** How far the run is, by the log. */
export interface Outcomes {
  /** Reads what is new. @returns how many attempts are in the log, and how many first deliveries have an outcome */
  read(): Promise<{ readonly attempts: number; readonly finished: number }>;
  /** The replays that have not ended, or of which not every delivery has an outcome. */
  openReplays(replays: readonly WebhookReplay[]): Promise<string[]>;
  close(): Promise<void>;
}

export function followOutcomes(log: Log): Outcomes {
  const { webhookAttempts: codec, replayProgress } = codecsOf(log);
  const backend = createKafkaBackend({ kafka: log.kafka, logger: silentLogger, now: Date.now });
  const fetcher = backend.fetcher();
  const topic = topics.webhookAttempts.name;
  const progressTopic = topics.replayProgress.name;
  const positions = Array.from({ length: PARTITIONS }, () => 0);
  const finished = new Set<string>();
  /** Events of each replay that have an outcome. */
  const replayed = new Map<string, Set<string>>();
  let attempts = 0;
  /** One fetcher reads for one caller at a time. */
  let reading: Promise<unknown> = Promise.resolve();

  async function readNew(): Promise<{ attempts: number; finished: number }> {
    for (const [partition, from] of positions.entries()) {
      positions[partition] = await readToEnd(backend, fetcher, { topic, partition }, from, async ({ records }) => {
        await resolveBatch(codec, records);
        for (const { value } of records) {
          const decoded = value === null ? null : codec.decode(value);
          if (decoded?.type !== 'decoded') continue;
          attempts += 1;
          const { outcome, eventId, replayId } = decoded.value;
          if (outcome === 'retrying') continue;
          if (replayId === null) finished.add(eventId);
          else replayed.set(replayId, (replayed.get(replayId) ?? new Set()).add(eventId));
        }
      });
    }
    return { attempts, finished: finished.size };
  }

  /** The last one of each replay. */
  async function readProgress(): Promise<Map<string, ReplayProgress>> {
    const found = new Map<string, ReplayProgress>();
    for (const partition of positions.keys()) {
      await readToEnd(backend, fetcher, { topic: progressTopic, partition }, 0, async ({ records }) => {
        await resolveBatch(replayProgress, records);
        for (const { value } of records) {
          const decoded = value === null ? null : replayProgress.decode(value);
          if (decoded?.type === 'decoded') found.set(decoded.value.replayId, decoded.value);
        }
      });
    }
    return found;
  }

  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const result = reading.then(work);
    reading = result.catch(() => undefined);
    return result;
  }

  return {
    read: () => inTurn(readNew),
    async openReplays(replays) {
      const progress = replays.length === 0 ? new Map<string, ReplayProgress>() : await inTurn(readProgress);
      await inTurn(readNew);
      return replays.flatMap(({ replayId }) => {
        const { state = 'not begun', sent = 0 } = progress.get(replayId) ?? {};
        const left = sent - (replayed.get(replayId)?.size ?? 0);
        if (state === 'completed' && left === 0) return [];
        return [`replay ${replayId} is ${state}, and ${String(left)} of its deliveries have no outcome`];
      });
    },
    async close() {
      await reading;
      await fetcher.close();
      await backend.close();
    },
  };
}
