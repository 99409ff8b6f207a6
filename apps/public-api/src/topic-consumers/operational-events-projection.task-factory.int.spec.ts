import { randomBytes, randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type pg from 'pg';
import { consumerGroups, topics } from '@waypost/contracts';
import { DatabaseRetry } from '@waypost/database';
import type { OperationalEvent } from '@waypost/domain';
import type { ManagementStore } from '@waypost/management-store';
import { createTaskManager, partitionForKey, silentLogger, type TaskContext, type TaskManager } from '@waypost/streams';
import { waitOrAbort } from '@waypost/streams/admin';
import { openTestStore, type TestStore } from '../../../../test/support/test-store.js';
import { until } from '../../../../test/support/until.js';
import { openTestStack } from '../testing/test-stack.js';
import { OperationalEventsProjectionTaskFactory } from './operational-events-projection.task-factory.js';

const TOPIC = topics.webhookOperations.name;

let stack: Awaited<ReturnType<typeof openTestStack>>;
let database: TestStore;
let store: ManagementStore;
let sql: pg.Client;
const consumers: TaskManager[] = [];
const fleetId = `fleet-${randomBytes(4).toString('hex')}`;
let id: string;

beforeAll(async () => {
  stack = await openTestStack();
  await stack.codecs.webhookOperations.prepare();
  database = await openTestStore();
  ({ store, sql } = database);
  await store.fleets.create({ fleetId, payloadFormat: 'v1', nowMs: 1_000 });
});
afterEach(() => Promise.all(consumers.splice(0).map((consumer) => consumer.stop())));
afterAll(async () => {
  await database.close();
  await stack.close();
});
beforeEach(async () => {
  id = randomUUID();
  const url = `https://receiver.example/${id}`;
  const sending = {
    rateLimitPerSecond: null,
    onOutage: 'fail',
    strictOrder: false,
    description: null,
    metadata: {},
    headers: [],
    clientCertificate: null,
  };
  const draft = { id, fleetId, eventType: 'position', url, payloadFormat: 'v1', deviceIds: null, auth: null };
  await store.subscriptions.create([{ ...draft, ...sending, secrets: [] }], 1_000);
});

function startConsumer(): TaskManager {
  const { backend, codecs } = stack;
  const { subscriptions, operationalEvents } = store;
  const retry = new DatabaseRetry({ logger: silentLogger, monotonicMs: Date.now, wait: waitOrAbort });
  const tasks = new OperationalEventsProjectionTaskFactory(
    ...([backend, codecs, subscriptions, operationalEvents, retry, silentLogger, Date.now] as const),
  );
  const { id: groupId, topics: read } = consumerGroups.operationalEvents;
  const onFatal = (error: Error): never => {
    throw error;
  };
  const createTask = (context: TaskContext) => tasks.create(context);
  const consumer = createTaskManager({
    backend,
    groupId,
    topics: read,
    instanceId: undefined,
    createTask,
    logger: silentLogger,
    onFatal,
    now: Date.now,
  });
  consumers.push(consumer);
  void consumer.start();
  return consumer;
}

function operationalEvent(given: Partial<OperationalEvent> = {}): OperationalEvent {
  return {
    id: randomUUID(),
    subscriptionId: id,
    fleetId,
    type: 'exhausted',
    occurredAt: Date.now(),
    reason: 'The endpoint answered 503 five times.',
    eventId: null,
    deliveryOffset: 3,
    statusCode: 503,
    errorCode: null,
    ...given,
  };
}

/** As the sender writes: in a transaction, in the partition of the subscription. */
async function tell(...events: OperationalEvent[]): Promise<void> {
  const producer = stack.backend.producer(`test-${randomUUID()}`);
  await producer.init();
  const records = events.map((event) => {
    const key = Buffer.from(event.subscriptionId);
    const partition = partitionForKey(key, stack.partitions);
    return { topic: TOPIC, partition, key, value: stack.codecs.webhookOperations.encode(event) };
  });
  await producer.commit({ records });
  await producer.close();
}

async function eventually<T>(read: () => Promise<T>, holds: (value: T) => boolean): Promise<T> {
  const [value] = await until(async () => {
    const found = await read();
    if (!holds(found)) throw new Error(`Not yet: ${JSON.stringify(found)}`);
    return [found] as const;
  });
  return value;
}
function stored() {
  return store.subscriptions.get({ fleetId, id });
}
function kept() {
  return store.operationalEvents.list({ fleetId, subscriptionId: id, limit: 100, before: null });
}

describe('the consumer of operational events on a real broker and database', () => {
  it('stores operational events and disables subscriptions that fail for too long, through the outbox', async () => {
    startConsumer();
    const events = [
      operationalEvent(),
      operationalEvent({ type: 'suspended' }),
      operationalEvent({ type: 'disabled', reason: '7 days.' }),
    ];
    await tell(...events);
    const found = await eventually(kept, (list) => list.length === 3);
    expect(found.map((event) => event.id).sort()).toEqual(events.map((event) => event.id).sort());
    expect(await stored()).toMatchObject({ status: 'disabled', disabledReason: '7 days.', version: 2 });
    const waiting = await sql.query<{ value: object }>('SELECT value FROM outbox WHERE key = $1 ORDER BY id', [id]);
    expect(waiting.rows.map((row) => row.value)).toMatchObject([{ status: 'active' }, { status: 'disabled' }]);
  });

  it('does not disable a subscription its owner has reactivated when it rereads the topic', async () => {
    const first = startConsumer();
    const disabled = operationalEvent({ type: 'disabled', occurredAt: Date.now() });
    await tell(disabled);
    await eventually(stored, (found) => found?.status === 'disabled');
    await first.stop();
    await store.subscriptions.update({ fleetId, id }, () => ({ status: 'active' }), Date.now() + 1);
    // What a group is left with that has been forgotten: a table that is empty, and a log to read again.
    await sql.query('TRUNCATE subscription_operations');
    await forgetGroup();

    startConsumer();
    expect(await eventually(kept, (list) => list.length === 1)).toEqual([disabled]);
    expect(await stored()).toMatchObject({ status: 'active', disabledReason: null, version: 3 });
  });

  it('resumes where it was after its database connections were cut repeatedly', async () => {
    startConsumer();
    const events = Array.from({ length: 40 }, (_, n) => operationalEvent({ occurredAt: Date.now() + n }));
    for (const event of events) {
      await tell(event);
      await sql.query(
        'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()',
      );
    }
    const found = await eventually(
      () => kept().catch(() => []),
      (list) => list.length === events.length,
    );
    expect(found.map((event) => event.id)).toEqual(events.map((event) => event.id).reverse());
  });
});

async function forgetGroup(): Promise<void> {
  const member = stack.backend.group({ groupId: 'public-api.operations', topics: [TOPIC] });
  const assigned = new Promise<number>((resolve, reject) => {
    const listener = {
      assigned: ({ generation }: { readonly generation: number }) => resolve(generation),
      failed: reject,
    };
    member.join(listener).catch(reject);
  });
  const generation = await assigned;
  for (let partition = 0; partition < stack.partitions; partition++) {
    await member.commit({ topic: TOPIC, partition }, { offset: 0, metadata: '' }, generation);
  }
  await member.leave();
}
