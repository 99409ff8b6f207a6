import { beforeEach, describe, expect, it } from '@jest/globals';
import { type AvroCodecs, createAvroCodecs } from '@waypost/contracts';
import { DatabaseRetry } from '@waypost/database';
import type { WebhookDelivery } from '@waypost/domain';
import type { WaitingBatch } from '@waypost/history-store';
import { type RecordBatch, StreamRecord, type TaskContext } from '@waypost/streams';
import { createMemoryRegistry } from '../../../../test/support/registry/memory-registry.js';
import { createWaitingDeliveriesTask } from './waiting-deliveries.task.js';

const NOW = Date.UTC(2026, 5, 20, 12);

let codecs: AvroCodecs;
beforeEach(async () => {
  codecs = createAvroCodecs({ registry: createMemoryRegistry() });
  await codecs.webhookDeliveries.prepare();
});

function deliveryOf(given: Partial<WebhookDelivery> = {}): WebhookDelivery {
  return {
    eventId: 'd08a18f2-8c03-52b8-8f97-c1d25f86d0d6',
    subscriptionId: 'subscription',
    fleetId: 'fleet-a',
    deviceId: 'device-1',
    eventType: 'position',
    eventTime: NOW - 1_000,
    format: 'v1',
    body: '{}',
    createdAt: NOW,
    series: 0,
    replayId: null,
    ...given,
  };
}

function batchOf(values: readonly (Buffer | null)[]): RecordBatch {
  const records = values.map((value, offset) => StreamRecord.of({ offset, timestamp: NOW + offset, key: null, value }));
  const end = values.length;
  const ends = { nextOffset: end, highWatermark: end, lastStableOffset: end };
  return { topic: 'webhook.deliveries', partition: 2, records, ...ends };
}

/** `attemptsUntil`: what is said of the attempts, look by look; the last goes on. */
function build(attemptsUntil: readonly (number | null)[]) {
  const ignore = (): void => undefined;
  const applied: WaitingBatch[] = [];
  const looks: number[] = [];
  const waits: number[] = [];
  let afterWait: () => void = ignore;
  const context = {
    topic: 'webhook.deliveries',
    partition: 2,
    commitOffset: () => Promise.resolve(),
  } as Partial<TaskContext> as TaskContext;
  const task = createWaitingDeliveriesTask(context, {
    codec: codecs.webhookDeliveries,
    projection: {
      readPosition: () => Promise.resolve(null),
      attemptsCompleteUntil: (partition) => {
        looks.push(partition);
        return Promise.resolve(attemptsUntil[Math.min(looks.length, attemptsUntil.length) - 1] ?? null);
      },
      apply: (batch) => {
        applied.push(batch);
        return Promise.resolve({ type: 'applied', waiting: batch.deliveries.length });
      },
    },
    metrics: { batchApplied: ignore, lagMeasured: ignore, partitionClosed: ignore },
    nowMs: () => NOW,
    tools: {
      database: new DatabaseRetry({
        logger: { info: ignore, warn: ignore },
        monotonicMs: () => 0,
        wait: () => new Promise((resolve) => setImmediate(resolve)),
      }),
      isSameTopic: () => Promise.resolve(true),
      partitionCount: () => Promise.resolve(6),
      logRange: () => Promise.resolve({ start: 0, end: 100 }),
      logger: { info: ignore, warn: ignore },
      monotonicMs: () => 0,
      wait: (ms) => {
        waits.push(ms);
        afterWait();
        return Promise.resolve();
      },
      onFatal: ignore,
    },
  });
  return {
    task,
    applied,
    looks,
    waits,
    onWait: (call: () => void): void => {
      afterWait = call;
    },
  };
}

describe('the task that finds deliveries without an attempt (R-33)', () => {
  it('looks at a batch once the attempts of its partition are projected to two seconds after its last record', async () => {
    const { task, applied, looks } = build([null, NOW + 1_999, NOW + 2_000, NOW + 2_001]);
    await task.open();
    await task.process(
      batchOf([deliveryOf(), deliveryOf({ series: 1 })].map((one) => codecs.webhookDeliveries.encode(one))),
    );
    expect(looks).toEqual([2, 2, 2, 2]);
    expect(applied).toMatchObject([{ topic: 'webhook.deliveries', partition: 2, expectedOffset: null, nextOffset: 2 }]);
    expect(applied[0]?.deliveries).toEqual([deliveryOf(), deliveryOf({ series: 1 })]);
  });

  it('leaves out what the history cannot store, and moves on', async () => {
    const { task, applied } = build([NOW + 60_000]);
    await task.open();
    const unusable = [
      deliveryOf({ eventId: 'no-uuid' }),
      deliveryOf({ series: -1 }),
      deliveryOf({ createdAt: NOW + 90_000_000 }),
      deliveryOf({ eventTime: -1 }),
    ];
    const values = [...unusable, deliveryOf()].map((one) => codecs.webhookDeliveries.encode(one));
    await task.process(batchOf([null, Buffer.from('no avro'), ...values]));
    expect(applied).toMatchObject([{ nextOffset: 7, deliveries: [deliveryOf()] }]);
  });

  it('stops waiting when its partition is revoked, and stores nothing', async () => {
    const { task, applied, onWait } = build([null]);
    await task.open();
    onWait(() => task.revoke?.());
    await expect(task.process(batchOf([codecs.webhookDeliveries.encode(deliveryOf())]))).rejects.toThrow();
    expect(applied).toEqual([]);
  });
});
