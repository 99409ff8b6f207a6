import { resolveBatch, topics } from '@waypost/contracts';
import type { ReplayProgress } from '@waypost/domain';
import { createKafkaBackend, silentLogger } from '@waypost/streams';
import { readToEnd } from '@waypost/streams/admin';
import { codecsOf } from '../shared/committed-log.js';
import { type Log, PARTITIONS } from '../shared/stage.js';
import type { RequestedReplay } from './replays.js';

/** How far the run is, by the log. */
export interface Outcomes {
  /** Reads what is new. @returns how many attempts are in the log, and how many first deliveries have an outcome */
  read(): Promise<{ readonly attempts: number; readonly finished: number }>;
  /** How many probes of suspended subscriptions are in the log. */
  probes(): Promise<number>;
  /** The replays that have not ended, or of which not every delivery has an outcome. */
  openReplays(replays: readonly RequestedReplay[]): Promise<string[]>;
  /** Of the subscriptions whose deliveries cannot be counted before: how many have no outcome, once all others have. */
  openOfChanged(): Promise<string[]>;
  close(): Promise<void>;
}

/** @param changed the subscriptions of which it is not known how many deliveries there will be; they are not counted */
export function followOutcomes(log: Log, changed: readonly string[] = []): Outcomes {
  const { webhookAttempts: codec, replayProgress, webhookDeliveries } = codecsOf(log);
  const backend = createKafkaBackend({ kafka: log.kafka, logger: silentLogger, now: Date.now });
  const fetcher = backend.fetcher();
  const topic = topics.webhookAttempts.name;
  const progressTopic = topics.replayProgress.name;
  const positions = Array.from({ length: PARTITIONS }, () => 0);
  const finished = new Set<string>();
  const finishedOfChanged = new Set<string>();
  /** Events of each replay that have an outcome. */
  const replayed = new Map<string, Set<string>>();
  let attempts = 0;
  let probes = 0;
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
          const { outcome, eventId, replayId, subscriptionId, probe } = decoded.value;
          if (probe) probes += 1;
          if (outcome === 'retrying') continue;
          if (changed.includes(subscriptionId)) finishedOfChanged.add(eventId);
          else if (replayId === null) finished.add(eventId);
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

  async function countDeliveriesOfChanged(): Promise<number> {
    let found = 0;
    for (const partition of positions.keys()) {
      const place = { topic: topics.webhookDeliveries.name, partition };
      await readToEnd(backend, fetcher, place, 0, async ({ records }) => {
        await resolveBatch(webhookDeliveries, records);
        for (const { key, value } of records) {
          if (key === null || !changed.includes(key.toString())) continue;
          const decoded = value === null ? null : webhookDeliveries.decode(value);
          if (decoded?.type === 'decoded') found += 1;
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
    async probes() {
      await inTurn(readNew);
      return probes;
    },
    async openReplays(replays) {
      const progress = replays.length === 0 ? new Map<string, ReplayProgress>() : await inTurn(readProgress);
      await inTurn(readNew);
      return replays.flatMap(({ replay: { replayId }, cancelledMs }) => {
        const { state = 'not begun', sent = 0 } = progress.get(replayId) ?? {};
        const left = sent - (replayed.get(replayId)?.size ?? 0);
        const isOver = state === 'completed' || (state === 'cancelled' && cancelledMs !== null);
        if (isOver && left === 0) return [];
        return [`replay ${replayId} is ${state}, and ${String(left)} of its deliveries have no outcome`];
      });
    },
    async openOfChanged() {
      const made = await inTurn(countDeliveriesOfChanged);
      await inTurn(readNew);
      const open = made - finishedOfChanged.size;
      return open > 0 ? [`${String(open)} deliveries of changed subscriptions have no outcome`] : [];
    },
    async close() {
      await reading;
      await fetcher.close();
      await backend.close();
    },
  };
}
