import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import {
  consumerGroups,
  createAvroCodecs,
  topics,
  type AvroCodecs,
  type WebhookAttempt,
  type WebhookDelivery,
} from '@waypost/contracts';
import type { AttemptResult } from '@waypost/domain';
import { createMemoryBackend, readToEnd, silentLogger, type TaskRunner } from '@waypost/streams';
import { createMemoryRegistry } from '../../../../test/support/registry/memory-registry.js';
import type { AttemptRequest, AttemptRun } from '../attempt/attempt-runner.js';
import { nodeTimers } from './due-timers.js';
import { createSender } from './sender-runner.js';
import { createTurns } from './turns.js';

const DELIVERIES = { topic: topics.webhookDeliveries.name, partition: 0 };
const ATTEMPTS = { topic: topics.webhookAttempts.name, partition: 0 };

let codecs: AvroCodecs;
let backend: ReturnType<typeof createMemoryBackend>;
let senders: TaskRunner[];

beforeEach(async () => {
  codecs = createAvroCodecs({ registry: createMemoryRegistry() });
  await Promise.all(Object.values(codecs).map((codec) => codec.prepare()));
  await codecs.webhookAttempts.resolve([1, 2, 3, 4, 5, 6, 7, 8]);
  backend = createMemoryBackend({ topics: { [DELIVERIES.topic]: 1, [ATTEMPTS.topic]: 1 }, now: Date.now });
  senders = [];
});

afterEach(async () => {
  await Promise.all(senders.map((sender) => sender.stop()));
});

const aDelivery = (n: number): WebhookDelivery => ({
  eventId: `event-${String(n)}`,
  subscriptionId: 'subscription-1',
  fleetId: 'fleet-1',
  deviceId: `device-${String(n)}`,
  eventType: 'position',
  eventTime: 1_000,
  format: 'v1',
  body: `{"n":${String(n)}}`,
  createdAt: 2_000,
  series: 0,
  replayId: null,
});

const publish = (n: number): number =>
  backend.append(DELIVERIES, {
    key: Buffer.from('subscription-1'),
    value: codecs.webhookDeliveries.encode(aDelivery(n)),
  });

const attempts = async (): Promise<WebhookAttempt[]> => {
  const fetcher = backend.fetcher();
  const found: WebhookAttempt[] = [];
  await readToEnd(backend, fetcher, ATTEMPTS, 0, ({ records }) => {
    for (const { value } of records) {
      const decoded = codecs.webhookAttempts.decode(value ?? Buffer.alloc(0));
      if (decoded.type === 'decoded') found.push(decoded.value);
    }
  });
  return found;
};

const committed = () => backend.group({ groupId: consumerGroups.sender.id, topics: [] }).committed(DELIVERIES);

type Answer = (request: AttemptRequest) => AttemptResult | Promise<AttemptResult | null>;

/** A sender whose endpoint is a function. `random` 0 makes the first wait 1.6 s; tests that wait use a 401, retried at once. */
const startSender = async (answer: Answer, auth: 'none' | 'bearer' = 'none'): Promise<AttemptRequest[]> => {
  const made: AttemptRequest[] = [];
  const run = async (request: AttemptRequest): Promise<AttemptRun> => {
    made.push(request);
    const result = await answer(request);
    if (result === null) return { type: 'aborted' };
    return { type: 'ended', url: 'https://example.org/', auth, result, discardToken: () => undefined };
  };
  const sender = createSender({
    ...{
      backend,
      codecs,
      timers: nodeTimers,
      logger: silentLogger,
      now: Date.now,
      random: () => 0,
      maxPending: 100,
      closeGraceMs: 20,
    },
    // One identity: the next sender takes the place of the one before, as a restarted process does.
    instanceId: 'sender-0',
    runner: { run },
    turns: createTurns({ perSubscription: 8, total: 64 }),
    metrics: { deliveryCreated: () => undefined, attemptEnded: () => undefined, pendingChanged: () => undefined },
    onFatal: (error) => {
      throw error;
    },
  });
  senders.push(sender);
  await sender.start();
  return made;
};

const until = async (condition: () => boolean | Promise<boolean>): Promise<void> => {
  const deadline = Date.now() + 4_000;
  while (!(await condition())) {
    if (Date.now() > deadline) throw new Error('the condition was not met in time');
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
};

const ok: AttemptResult = { type: 'response', statusCode: 200 };
/** Answers nothing until the sender gives up. */
const never = ({ signal }: AttemptRequest): Promise<null> =>
  new Promise((resolve) => {
    signal.addEventListener('abort', () => {
      resolve(null);
    });
  });

describe('the sender', () => {
  it('logs each attempt with its outcome, the first with the exact body, and moves the position over what is finished', async () => {
    publish(1);
    publish(2);
    await startSender(() => ok);
    await until(async () => (await committed())?.offset === 2);
    expect((await attempts()).map(({ eventId, attempt, outcome, body }) => [eventId, attempt, outcome, body])).toEqual([
      ['event-1', 1, 'delivered', '{"n":1}'],
      ['event-2', 1, 'delivered', '{"n":2}'],
    ]);
  });

  it('keeps the position at an unfinished delivery while later ones finish (R-25)', async () => {
    publish(1);
    publish(2);
    await startSender((request) => (request.delivery.eventId === 'event-1' ? never(request) : ok));
    await until(async () => (await attempts()).length === 1);
    expect((await attempts())[0]?.eventId).toBe('event-2');
    expect((await committed())?.offset ?? 0).toBe(0);
  });

  it('commits an attempt before the next one of the same delivery starts', async () => {
    publish(1);
    const logged: number[] = [];
    await startSender(async ({ attempt }) => {
      logged.push((await attempts()).length);
      return attempt === 1 ? { type: 'response', statusCode: 401 } : ok;
    }, 'bearer');
    await until(async () => (await attempts()).length === 2);
    expect(logged).toEqual([0, 1]);
  });

  it('hands a successor what is unfinished, with its attempt number and due time, and nothing that is finished (R-25)', async () => {
    publish(1);
    publish(2);
    publish(3);
    const madeBefore = await startSender((request) => {
      if (request.delivery.eventId === 'event-1') return { type: 'response', statusCode: 503 };
      return request.delivery.eventId === 'event-2' ? ok : never(request);
    });
    await until(async () => (await attempts()).length === 2);
    const firstTry = (await attempts()).find(({ eventId }) => eventId === 'event-1');
    // The second sender takes the partition over, as after a kill: the first can no longer write.
    const made = await startSender(() => ok);
    await until(async () => (await committed())?.offset === 3);
    expect(made.map(({ delivery, attempt }) => [delivery.eventId, attempt]).sort()).toEqual([
      ['event-1', 2],
      ['event-3', 1],
    ]);
    // The one before has the same retry on its own timer, and must see that the partition is no longer its own.
    expect(madeBefore.map(({ attempt }) => attempt)).toEqual([1, 1, 1]);
    const second = (await attempts()).find(({ eventId, attempt }) => eventId === 'event-1' && attempt === 2);
    expect(second?.dueAt).toBe(firstTry?.nextDueAt);
    expect(second?.startedAt).toBeGreaterThanOrEqual(firstTry?.nextDueAt ?? Infinity);
    expect(second?.firstAttemptAt).toBe(firstTry?.startedAt);
  });

  it('goes on after its log could not be written once, without a gap and without logging anything twice', async () => {
    let broken = true;
    const whole = backend.producer.bind(backend);
    backend.producer = (transactionalId) => {
      const producer = whole(transactionalId);
      const commit = producer.commit.bind(producer);
      producer.commit = (transaction) => {
        if (!broken || transaction.records.length === 0) return commit(transaction);
        broken = false;
        return Promise.reject(new Error('the connection broke before the commit'));
      };
      return producer;
    };
    for (const n of [1, 2, 3]) publish(n);
    const made = await startSender(() => ok);
    await until(async () => (await committed())?.offset === 3);
    expect((await attempts()).map(({ eventId, attempt }) => [eventId, attempt]).sort()).toEqual([
      ['event-1', 1],
      ['event-2', 1],
      ['event-3', 1],
    ]);
    expect(made.length).toBeGreaterThan(3); // what could not be logged was sent again
  });

  it('gives up after the fifth attempt and says so (R-22)', async () => {
    publish(1);
    backend.append(ATTEMPTS, {
      key: Buffer.from('subscription-1'),
      value: codecs.webhookAttempts.encode(fourthAttempt()),
    });
    await startSender(() => ({ type: 'response', statusCode: 503 }));
    await until(async () => (await committed())?.offset === 1);
    expect((await attempts()).at(-1)).toMatchObject({
      attempt: 5,
      outcome: 'failed',
      decision: 'attempts_exhausted',
      nextDueAt: null,
      body: null,
    });
  });
});

const fourthAttempt = (): WebhookAttempt => {
  const { createdAt, body: _body, ...delivery } = aDelivery(1);
  return {
    ...delivery,
    deliveryOffset: 0,
    deliveryCreatedAt: createdAt,
    url: 'https://example.org/',
    attempt: 4,
    dueAt: 3_000,
    startedAt: 3_000,
    firstAttemptAt: 2_000,
    durationMs: 10,
    statusCode: 503,
    errorCode: null,
    errorDetail: null,
    outcome: 'retrying',
    decision: 'temporary_status',
    nextDueAt: 4_000,
    body: null,
  };
};
