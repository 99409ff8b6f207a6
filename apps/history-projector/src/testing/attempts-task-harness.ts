import { type AvroCodecs, createAvroCodecs } from '@waypost/contracts';
import { DatabaseRetry } from '@waypost/database';
import type { WebhookAttempt } from '@waypost/domain';
import { type DeliveryProjection } from '@waypost/history-store';
import { createMemoryDeliveryStore } from '@waypost/history-store/testing';
import type { Quarantine, SpanRecorder, UnusableRecord } from '@waypost/platform';
import { type RecordBatch, StreamRecord, type TaskContext } from '@waypost/streams';
import { createMemoryRegistry } from '../../../../test/support/registry/memory-registry.js';
import { createAttemptsTask } from '../attempts/attempts.task.js';
import { sampleAttempt } from './sample-attempt.js';

export const NOW = Date.UTC(2026, 5, 20, 12);

/** The first attempt of the n-th delivery. */
export function first(n: number): WebhookAttempt {
  return sampleAttempt('fleet-a', n, 1, NOW - 60_000 + n);
}

interface Given {
  readonly projection?: (real: DeliveryProjection) => Partial<DeliveryProjection>;
  readonly start?: number;
  /** Of the attempt log; null: there is no such topic. */
  readonly partitions?: number | null;
  readonly recorder?: SpanRecorder;
}

export type AttemptsHarness = Awaited<ReturnType<typeof createAttemptsHarness>>;

export async function createAttemptsHarness() {
  const codecs = createAvroCodecs({ registry: createMemoryRegistry() });
  await codecs.webhookAttempts.prepare();
  return {
    codecs,
    build: (given: Given = {}) => buildTask(codecs, given),
    batchOf: (attempts: readonly WebhookAttempt[], nextOffset: number, highWatermark = 100): RecordBatch => {
      const records = attempts.map((attempt, offset) => {
        return StreamRecord.of({ offset, timestamp: NOW, key: null, value: codecs.webhookAttempts.encode(attempt) });
      });
      const ends = { nextOffset, highWatermark, lastStableOffset: highWatermark };
      return { topic: 'webhook.attempts', partition: 2, records, ...ends };
    },
  };
}

/** The clock stands still but for what the task waits, and what a test adds. */
function buildTask(codecs: AvroCodecs, given: Given) {
  const store = createMemoryDeliveryStore({ now: () => NOW });
  const commits: number[] = [];
  /** For how many partitions progress is kept. */
  const begun: number[] = [];
  const events: string[] = [];
  const fatal: string[] = [];
  const quarantined: UnusableRecord[] = [];
  const quarantine: Pick<Quarantine, 'put'> = {
    put: (_source, unusable) => Promise.resolve(void quarantined.push(...unusable)),
  };
  const lags: number[] = [];
  const waits: number[] = [];
  const clock = { nowMs: 0 };
  const log = (event: string): void => void events.push(event);
  const context = {
    topic: 'webhook.attempts',
    partition: 2,
    commitOffset: (offset: number) => Promise.resolve(void commits.push(offset)),
  } as Partial<TaskContext> as TaskContext;
  const task = createAttemptsTask(context, {
    codec: codecs.webhookAttempts,
    quarantine,
    nowMs: () => NOW,
    progress: { begin: (_, count) => Promise.resolve(void begun.push(count)), caughtUp: () => Promise.resolve() },
    traces: { recorder: given.recorder ?? null, sampleRatio: 0 },
    projection: Object.assign({}, store.projection, given.projection?.(store.projection)),
    metrics: {
      batchApplied: ({ items }) => void events.push(`applied ${String(items)}`),
      lagMeasured: (_, records) => void lags.push(records),
      partitionClosed: () => void events.push('closed'),
    },
    tools: {
      database: new DatabaseRetry({
        logger: { info: log, warn: log },
        monotonicMs: () => 0,
        wait: () => new Promise((resolve) => setImmediate(resolve)),
      }),
      isSameTopic: () => Promise.resolve(true),
      partitionCount: () => Promise.resolve(given.partitions === undefined ? 6 : given.partitions),
      logRange: () => Promise.resolve({ start: given.start ?? 0, end: 100 }),
      logger: { info: log, warn: log },
      monotonicMs: () => clock.nowMs,
      wait: (ms) => {
        waits.push(ms);
        clock.nowMs += ms;
        return Promise.resolve();
      },
      onFatal: ({ message }) => void fatal.push(message),
    },
  });
  const find = async () => {
    const query = { fleetId: 'fleet-a', startAt: 0, endAt: NOW, limit: 100 };
    return (await store.history.findDeliveries(query)).records;
  };
  /** A batch that was fetched after it was asked for. */
  const processLater = (batch: RecordBatch): Promise<void> => {
    clock.nowMs += 5;
    return task.process(batch);
  };
  return {
    task,
    store,
    clock,
    begun,
    commits,
    events,
    fatal,
    quarantine,
    quarantined,
    lags,
    waits,
    find,
    processLater,
  };
}
