import { beforeEach, describe, expect, it } from '@jest/globals';
import { Registry } from 'prom-client';
import { type AvroCodecs, createAvroCodecs } from '@waypost/contracts';
import { DatabaseRetry } from '@waypost/database';
import type { TelemetryPing } from '@waypost/domain';
import { type PathProjection } from '@waypost/history-store';
import { createMemoryPathStore } from '@waypost/history-store/testing';
import { type RecordBatch, StreamRecord, type TaskContext } from '@waypost/streams';
import { createMemoryRegistry } from '../../../../test/support/registry/memory-registry.js';
import { pingOf } from '../../../../test/support/samples.js';
import { createPathMetrics } from '../projection/metrics.js';
import { createPathsTask } from './paths.task.js';

const NOW = Date.UTC(2026, 5, 20, 12);
const TOPIC = 'telemetry.pings';

let codecs: AvroCodecs;

beforeEach(async () => {
  codecs = createAvroCodecs({ registry: createMemoryRegistry() });
  await codecs.telemetryPings.prepare();
});

function build(projectionOf: (real: PathProjection) => Partial<PathProjection> = () => ({})) {
  const store = createMemoryPathStore({ now: () => NOW });
  const commits: number[] = [];
  const fatal: string[] = [];
  const registry = new Registry();
  const clock = { nowMs: 0 };
  const context = {
    topic: TOPIC,
    partition: 1,
    commitOffset: (offset: number) => Promise.resolve(void commits.push(offset)),
  } as Partial<TaskContext> as TaskContext;
  const ignore = (): void => undefined;
  const task = createPathsTask(context, {
    codec: codecs.telemetryPings,
    projection: Object.assign({}, store.projection, projectionOf(store.projection)),
    metrics: createPathMetrics(registry),
    tools: {
      database: new DatabaseRetry({
        logger: { info: ignore, warn: ignore },
        monotonicMs: () => 0,
        wait: () => new Promise((resolve) => setImmediate(resolve)),
      }),
      isSameTopic: () => Promise.resolve(true),
      partitionCount: () => Promise.resolve(2),
      logRange: () => Promise.resolve({ start: 0, end: 100 }),
      logger: { info: ignore, warn: ignore },
      monotonicMs: () => clock.nowMs,
      wait: (ms) => {
        clock.nowMs += ms;
        return Promise.resolve();
      },
      onFatal: ({ message }) => void fatal.push(message),
    },
  });
  return {
    task,
    commits,
    fatal,
    /** A batch that was fetched after it was asked for. */
    process: (batch: RecordBatch): Promise<void> => {
      clock.nowMs += 5;
      return task.process(batch);
    },
    readPosition: () => store.projection.readPosition(TOPIC, 1),
    find: () => store.history.findPoints({ fleetId: 'fleet-1', startAt: 0, endAt: NOW + 1, limit: 100 }),
    async counts(): Promise<Record<string, number>> {
      const metric = await registry.getSingleMetric('waypost_path_pings_total')?.get();
      const values = (metric?.values ?? []).map(({ labels, value }) => [labels['result'], value] as const);
      return Object.fromEntries(values.filter(([, value]) => value > 0)) as Record<string, number>;
    },
    async lag(): Promise<number | undefined> {
      return (await registry.getSingleMetric('waypost_path_lag_records')?.get())?.values[0]?.value;
    },
  };
}

function ping(secondsAgo: number, fields: Partial<TelemetryPing> = {}): TelemetryPing {
  return pingOf({ eventTime: NOW - secondsAgo * 1_000, ...fields });
}

interface Given {
  readonly key?: string | null;
  readonly value: Buffer | null;
}

function encoded(...pings: TelemetryPing[]): Given[] {
  return pings.map((value) => ({ value: codecs.telemetryPings.encode(value) }));
}

function batchOf(given: readonly Given[], nextOffset: number): RecordBatch {
  const records = given.map(({ key = 'device-1', value }, offset) => {
    return StreamRecord.of({ offset, timestamp: NOW, key: key === null ? null : Buffer.from(key), value });
  });
  return { topic: TOPIC, partition: 1, records, nextOffset, highWatermark: 100, lastStableOffset: 100 };
}

describe('the paths task', () => {
  it('keeps late pings and each time once, and then commits the offset after the batch', async () => {
    const { task, process, find, commits, readPosition, counts } = build();
    await task.open();
    await process(batchOf(encoded(ping(60), ping(10), ping(30), ping(10, { speedInKmh: 99 })), 4));
    await process(batchOf(encoded(ping(30, { speedInKmh: 99 }), ping(20)), 6));

    const found = await find();
    expect(found.map(({ eventTime }) => (NOW - eventTime) / 1_000)).toEqual([60, 30, 20, 10]);
    expect(found.map(({ speedInKmh }) => speedInKmh)).toEqual([null, null, null, null]);
    expect(await readPosition()).toBe(6);
    expect(commits).toEqual([0, 4, 6]);
    expect(await counts()).toEqual({ stored: 4, repeated: 2 });
  });

  it('leaves out, counts and passes what the processor quarantines, and never stops at it (R-2, R-3)', async () => {
    const { task, process, find, fatal, counts, readPosition } = build();
    await task.open();
    const [good, future, wrongClock, foreign, nameless] = encoded(
      ping(5),
      ping(0, { eventTime: NOW, receivedTime: NOW - 300_001 }),
      ping(-3_600),
      ping(4),
      ping(3, { deviceId: '' }),
    );
    const unknownSchema = Buffer.from(good?.value ?? '');
    unknownSchema.writeInt32BE(4_711, 1);
    await process(
      batchOf(
        [
          { value: Buffer.from('no avro') },
          { value: null },
          { value: unknownSchema },
          { value: (good?.value ?? Buffer.alloc(0)).subarray(0, -1) },
          ...(future ? [future] : []),
          ...(wrongClock ? [wrongClock] : []),
          { key: 'device-2', value: foreign?.value ?? null },
          { key: null, value: foreign?.value ?? null },
          { key: '', value: nameless?.value ?? null },
          ...(good ? [good] : []),
        ],
        10,
      ),
    );

    expect((await find()).map(({ eventTime }) => eventTime)).toEqual([NOW - 5_000]);
    expect(await counts()).toEqual({ undecodable: 4, rejected: 5, stored: 1 });
    expect(await readPosition()).toBe(10);
    expect(fatal).toEqual([]);
  });

  it('keeps nothing that is beyond the retention, whatever its receipt says', async () => {
    const { task, process, find, counts } = build();
    await task.open();
    const DAY_S = 86_400;
    await process(batchOf(encoded(ping(17 * DAY_S), ping(16 * DAY_S, { receivedTime: NOW }), ping(1)), 3));

    expect(await find()).toHaveLength(1);
    expect(await counts()).toEqual({ expired: 2, stored: 1 });
  });

  it('keeps points apart from the memory that the records came in', async () => {
    const { task, process, find } = build();
    await task.open();
    const records = encoded(ping(5, { speedInKmh: 42, latitude: 10, longitude: 11 }));
    await process(batchOf(records, 1));
    records[0]?.value?.fill(0);
    expect(await find()).toMatchObject([{ deviceId: 'device-1', speedInKmh: 42, latitude: 10, longitude: 11 }]);
  });

  it('shows its lag while it is open', async () => {
    const { task, process, lag } = build();
    await task.open();
    expect(await lag()).toBe(100);
    await process(batchOf(encoded(ping(5)), 90));
    expect(await lag()).toBe(10);
    await task.close();
    expect(await lag()).toBeUndefined();
  });
});
