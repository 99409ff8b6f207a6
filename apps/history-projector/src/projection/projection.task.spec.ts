import { describe, expect, it } from '@jest/globals';
import { DatabaseRetry } from '@waypost/database';
import { type RecordBatch, StreamRecord, type TaskContext } from '@waypost/streams';
import { createProjectionTask, type ProjectedBatch } from './projection.task.js';

const NOW = Date.UTC(2026, 5, 20, 12);
const TOPIC = 'a.log';
const PARTITION = 2;

interface Given {
  readonly start?: number;
  readonly end?: number;
  readonly rangeTakesMs?: number;
  readonly isSameTopic?: boolean;
  /** As stored. */
  readonly position?: number | null;
}

/** A task that projects anything, what it says of its progress, and what it does in which order. */
function build({ start = 0, end = 2, rangeTakesMs = 0, isSameTopic = true, ...stored }: Given = {}) {
  const ignore = (): void => undefined;
  const clock = { nowMs: 0 };
  const said: unknown[] = [];
  const steps: string[] = [];
  const applied: ProjectedBatch<unknown>[] = [];
  const fatal: string[] = [];
  let { position = null } = stored;
  const context = {
    topic: TOPIC,
    partition: PARTITION,
    commitOffset: () => Promise.resolve(),
  } as Partial<TaskContext> as TaskContext;
  const task = createProjectionTask(context, {
    decode: ({ records }) => Promise.resolve(records),
    projection: {
      readPosition: () => Promise.resolve(position),
      apply: (batch) => {
        applied.push(batch);
        steps.push('apply');
        position = batch.nextOffset;
        return Promise.resolve({ type: 'applied' as const });
      },
    },
    progress: {
      begin: () => Promise.resolve(void said.push('begin')),
      caughtUp: (mark) => Promise.resolve(void said.push(mark)),
      nowMs: () => NOW + clock.nowMs,
    },
    metrics: {
      batchApplied: ignore,
      lagMeasured: ignore,
      partitionClosed: ignore,
      batchRead: (partition, loggedAt) => void steps.push(`read ${String(partition)} of ${String(loggedAt - NOW)} ms`),
      batchWritten: (partition) => void steps.push(`written ${String(partition)}`),
    },
    tools: {
      database: new DatabaseRetry({
        logger: { info: ignore, warn: ignore },
        monotonicMs: () => 0,
        wait: () => new Promise((resolve) => setImmediate(resolve)),
      }),
      isSameTopic: () => Promise.resolve(isSameTopic),
      partitionCount: () => Promise.resolve(6),
      logRange: () => {
        clock.nowMs += rangeTakesMs;
        return Promise.resolve({ start, end });
      },
      logger: { info: ignore, warn: ignore },
      monotonicMs: () => clock.nowMs,
      wait: () => Promise.resolve(),
      onFatal: ({ message }) => void fatal.push(message),
    },
  });
  return { task, clock, said, steps, applied, fatal };
}

function batchOf(timestamps: readonly number[], nextOffset: number): RecordBatch {
  const records = timestamps.map((timestamp, offset) =>
    StreamRecord.of({ offset, timestamp, key: null, value: Buffer.of(1) }),
  );
  return { topic: TOPIC, partition: PARTITION, records, nextOffset, highWatermark: 2, lastStableOffset: 2 };
}

describe('a projection (R-33)', () => {
  it('reports with each batch that it is complete until its last record was logged', async () => {
    const { task, said, applied } = build();
    await task.open();
    expect(said).toEqual(['begin']);
    await task.process(batchOf([NOW - 90, NOW - 80], 2));
    expect(applied.map(({ completeUntil }) => completeUntil)).toEqual([NOW - 80]);
  });

  it('reports it also of a batch that was put off, and is written with one that has no record', async () => {
    const { task, applied } = build();
    await task.open();
    await task.process(batchOf([NOW - 90], 1));
    await task.process(batchOf([NOW - 80], 2));
    await task.process(batchOf([], 3));
    expect(applied.map(({ nextOffset, completeUntil }) => [nextOffset, completeUntil])).toEqual([
      [1, NOW - 90],
      [3, NOW - 80],
    ]);
  });

  it('reports without input at the end of the log that it is complete until just before that end was read', async () => {
    const { task, clock, said } = build({ rangeTakesMs: 40 });
    await task.open();
    await task.process(batchOf([NOW - 90], 2));
    const at = NOW + clock.nowMs;
    await task.idle?.();
    expect(said.slice(1)).toEqual([{ topic: TOPIC, partition: PARTITION, expectedOffset: 2, completeUntil: at }]);
  });

  it('reports the same for an empty log', async () => {
    const { task, said } = build({ start: 9, end: 9 });
    await task.open();
    await task.idle?.();
    expect(said.slice(1)).toMatchObject([{ expectedOffset: null, completeUntil: NOW }]);
  });

  it('reports the same for a log that has lost everything that it did not project', async () => {
    const { task, said } = build({ start: 30, end: 30, position: 5 });
    await task.open();
    await task.idle?.();
    expect(said.slice(1)).toMatchObject([{ expectedOffset: 5, completeUntil: NOW }]);
  });

  it('reports nothing while there is more in the log, although none of it arrives', async () => {
    const { task, clock, said } = build({ end: 3 });
    await task.open();
    await task.process(batchOf([NOW - 90], 2));
    clock.nowMs += 60_000;
    await task.idle?.();
    expect(said.slice(1)).toEqual([]);
  });
});

it('tells how far a projection is behind: since when its oldest record has waited, until that is written (R-40)', async () => {
  const { task, steps } = build();
  await task.open();
  await task.process(batchOf([NOW - 90, NOW - 80], 2));
  expect(steps).toEqual(['read 2 of -90 ms', 'apply', 'written 2']);
});

describe('a projection of a topic that was deleted and created again', () => {
  it('ends the process with the fix, although the position would be one of the new topic too', async () => {
    const { task, fatal } = build({ isSameTopic: false, position: 1 });
    await expect(task.open()).rejects.toThrow('was deleted and recreated');
    expect(fatal).toEqual([expect.stringContaining('waypost rebuild --yes')]);
  });
});
