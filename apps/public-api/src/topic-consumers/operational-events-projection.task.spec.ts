import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { type AvroCodecs, createAvroCodecs } from '@waypost/contracts';
import { DatabaseRetry } from '@waypost/database';
import { type OperationalEvent, RETENTION_MS } from '@waypost/domain';
import { type RecordBatch, StreamRecord, type TaskContext } from '@waypost/streams';
import { createMemoryRegistry } from '../../../../test/support/registry/memory-registry.js';
import { OperationalEventsProjectionTask } from './operational-events-projection.task.js';

let codecs: AvroCodecs;
beforeAll(async () => {
  codecs = createAvroCodecs({ registry: createMemoryRegistry() });
  await codecs.webhookOperations.prepare();
});

function operationalEvent(given: Partial<OperationalEvent> = {}): OperationalEvent {
  return {
    id: randomUUID(),
    subscriptionId: randomUUID(),
    fleetId: 'acme',
    type: 'exhausted',
    occurredAt: 1_000,
    reason: 'The endpoint answered 503 five times.',
    eventId: null,
    deliveryOffset: 7,
    statusCode: 503,
    errorCode: null,
    ...given,
  };
}

function batchOf(values: (Buffer | null)[], from = 0): RecordBatch {
  const nextOffset = from + values.length + 1;
  const records = values.map((value, index) =>
    StreamRecord.of({ offset: from + index, timestamp: 0, key: null, value }),
  );
  const ends = { nextOffset, highWatermark: nextOffset, lastStableOffset: nextOffset };
  return { topic: 'webhook.operations', partition: 2, records, ...ends };
}
function encoded(...events: OperationalEvent[]) {
  return events.map((event) => codecs.webhookOperations.encode(event));
}

interface World {
  committed?: number | null;
  log?: { start: number; end: number };
  /** Errors of the database, for the calls to come. */
  failures?: Error[];
}

function build({ committed = null, log = { start: 0, end: 100 }, failures = [] }: World = {}) {
  const calls: string[] = [];
  const trimmed: number[] = [];
  const clock = { nowMs: 5_000 };
  const did = (call: string): Promise<void> => {
    const failure = failures.shift();
    if (failure !== undefined) return Promise.reject(failure);
    calls.push(call);
    return Promise.resolve();
  };
  const context: TaskContext = {
    topic: 'webhook.operations',
    partition: 2,
    leaseValid: () => true,
    leaveOut: () => Promise.resolve(null),
    confirmOwnership: () => Promise.resolve(),
    committedOffset: () => Promise.resolve(committed === null ? null : { offset: committed, metadata: '' }),
    commitOffset: (offset) => Promise.resolve(void calls.push(`commit ${String(offset)}`)),
    fail: () => undefined,
  };
  const log_ = (event: string): void => void calls.push(event);
  const logger = { info: log_, warn: log_, error: log_ };
  const task = new OperationalEventsProjectionTask(context, {
    codec: codecs.webhookOperations,
    subscriptions: {
      disable: async ({ subscriptionId }) => {
        await did(`disable ${subscriptionId}`);
        return { type: 'not_found' };
      },
    },
    events: {
      keep: (events) => did(`keep ${String(events.length)}`),
      trim: (beforeMs) => Promise.resolve(trimmed.push(beforeMs)),
    },
    backend: { startOffset: () => Promise.resolve(log.start), endOffset: () => Promise.resolve(log.end) },
    database: new DatabaseRetry({ logger, monotonicMs: () => 0, wait: () => new Promise((r) => setImmediate(r)) }),
    logger,
    nowMs: () => clock.nowMs,
  });
  return { task, calls, trimmed, clock };
}

function gone() {
  return Object.assign(new Error('gone'), { code: 'ECONNREFUSED' });
}

describe('the task of operational events', () => {
  it.each<[string, World, number, string[]]>([
    ['where the group has been', { committed: 40 }, 40, []],
    ['at the start of the log, the first time', { log: { start: 3, end: 9 } }, 3, ['commit 3']],
    [
      'at the start of the log, when what it had not read has expired',
      { committed: 2, log: { start: 5, end: 9 } },
      5,
      ['commit 5'],
    ],
    ['at the start of the log, when it is another one', { committed: 12, log: { start: 0, end: 9 } }, 0, ['commit 0']],
  ])('begins %s', async (_, world, position, committed) => {
    const { task, calls } = build(world);
    expect(await task.open()).toEqual({ position });
    expect(calls).toEqual(committed);
  });

  it('disables first, keeps all, and then moves its position', async () => {
    const { task, calls } = build();
    const disabled = operationalEvent({ type: 'disabled' });
    await task.process(batchOf(encoded(operationalEvent(), disabled, operationalEvent({ type: 'suspended' })), 10));
    expect(calls).toEqual([`disable ${disabled.subscriptionId}`, 'subscription_not_disabled', 'keep 3', 'commit 14']);
  });

  it('forgets what is older than the history at its first call, and once an hour from then on', async () => {
    const { task, trimmed, clock } = build();
    const startMs = clock.nowMs;
    const HOUR_MS = 3_600_000;
    for (const atMs of [0, 1, HOUR_MS - 1, HOUR_MS, 2 * HOUR_MS - 1]) {
      clock.nowMs = startMs + atMs;
      await task.idle();
    }
    clock.nowMs = startMs + 2 * HOUR_MS;
    await task.process(batchOf(encoded(operationalEvent())));
    expect(trimmed).toEqual([0, HOUR_MS, 2 * HOUR_MS].map((atMs) => startMs + atMs - RETENTION_MS));
  });

  it('skips empty entries and continues', async () => {
    const { task, calls } = build();
    const strange = [{ id: 'none' }, { subscriptionId: 'none' }, { eventId: 'none' }, { occurredAt: 9e15 }];
    const values = encoded(...strange.map((given) => operationalEvent(given)), operationalEvent());
    await task.process(batchOf([Buffer.from('noise'), null, ...values]));
    expect(calls.filter((call) => call === 'operation_unusable')).toHaveLength(6);
    expect(calls.slice(6)).toEqual(['keep 1', 'commit 8']);
  });

  it('waits for the database and forgets nothing', async () => {
    const { task, calls } = build({ failures: [gone(), gone(), gone()] });
    const disabled = operationalEvent({ type: 'disabled' });
    await task.process(batchOf(encoded(disabled)));
    expect(calls).toEqual([
      'database_away',
      `disable ${disabled.subscriptionId}`,
      'database_back',
      'subscription_not_disabled',
      'keep 1',
      'commit 2',
    ]);
  });

  it.each(['revoke', 'close'] as const)('stops waiting at %s, without moving its position', async (end) => {
    const { task, calls } = build({ failures: Array.from({ length: 10_000 }, gone) });
    const processing = task.process(batchOf(encoded(operationalEvent())));
    void task[end]();
    await expect(processing).rejects.toThrow('gone');
    expect(calls).toEqual(['database_away']);
  });

  it('fails at once, to be built again, when the database refuses', async () => {
    const { task, calls } = build({ failures: [new Error('permission denied')] });
    await expect(task.process(batchOf(encoded(operationalEvent())))).rejects.toThrow('permission denied');
    expect(calls).toEqual([]);
  });
});
