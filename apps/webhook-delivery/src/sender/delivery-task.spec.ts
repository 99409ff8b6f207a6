import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { anAttempt, never, ok, SenderBench, unavailable } from './testing/sender-bench.js';
import { until } from '../../../../test/support/until.js';

let bench: SenderBench;

beforeEach(async () => {
  bench = await SenderBench.create();
  bench.subscribe('subscription-1');
});

afterEach(() => bench.stop());

describe('the sender', () => {
  it('logs each attempt with its outcome, the first with the exact body, and moves the position over what is finished', async () => {
    bench.publish(1);
    bench.publish(2);
    await bench.start(() => ok);
    await until(async () => (await bench.committedOffset()) === 2);
    const attempts = await bench.attempts();
    expect(attempts.map(({ eventId, attempt, outcome, body }) => [eventId, attempt, outcome, body])).toEqual([
      ['event-1', 1, 'delivered', '{"n":1}'],
      ['event-2', 1, 'delivered', '{"n":2}'],
    ]);
  });

  it('keeps the position at an unfinished delivery while later ones finish (R-25)', async () => {
    bench.publish(1);
    bench.publish(2);
    await bench.start((request) => (request.delivery.eventId === 'event-1' ? never(request) : ok));
    await until(async () => (await bench.attempts()).length === 1);
    expect((await bench.attempts())[0]?.eventId).toBe('event-2');
    // Longer than the sender takes to commit a position.
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(await bench.committedOffset()).toBe(0);
  });

  it('commits an attempt before the next one of the same delivery starts', async () => {
    bench.publish(1);
    const logged: number[] = [];
    const answer = async ({ attempt }: { attempt: number }) => {
      logged.push((await bench.attempts()).length);
      return attempt === 1 ? ({ type: 'response', statusCode: 401 } as const) : ok;
    };
    await bench.start(answer, { auth: 'bearer' });
    await until(async () => (await bench.attempts()).length === 2);
    expect(logged).toEqual([0, 1]);
  });

  it('hands a successor what is unfinished, with its attempt number and due time, and nothing that is finished (R-25)', async () => {
    for (const n of [1, 2, 3]) bench.publish(n);
    const madeBefore = await bench.start((request) => {
      if (request.delivery.eventId === 'event-1') return unavailable;
      return request.delivery.eventId === 'event-2' ? ok : never(request);
    });
    await until(async () => (await bench.attempts()).length === 2);
    const firstTry = (await bench.attempts()).find(({ eventId }) => eventId === 'event-1');
    // The second sender takes the partition over, as after a kill: the first can no longer write.
    const made = await bench.start(() => ok);
    await until(async () => (await bench.committedOffset()) === 3);
    expect(made.map(({ delivery, attempt }) => [delivery.eventId, attempt]).sort()).toEqual([
      ['event-1', 2],
      ['event-3', 1],
    ]);
    // The one before has the same retry on its own timer, and must see that the partition is no longer its own.
    expect(madeBefore.map(({ attempt }) => attempt)).toEqual([1, 1, 1]);
    const second = (await bench.attempts()).find(({ eventId, attempt }) => eventId === 'event-1' && attempt === 2);
    expect(second?.dueAt).toBe(firstTry?.nextDueAt);
    expect(second?.startedAt).toBeGreaterThanOrEqual(firstTry?.nextDueAt ?? Infinity);
    expect(second?.firstAttemptAt).toBe(firstTry?.startedAt);
  });

  it('goes on after its log could not be written once, without a gap and without logging anything twice', async () => {
    let broken = true;
    const { backend } = bench;
    const whole = backend.fencedWriter.bind(backend);
    backend.fencedWriter = (transactionalId, partitions) => {
      const writer = whole(transactionalId, partitions);
      const append = writer.append.bind(writer);
      writer.append = (records) => {
        if (!broken) return append(records);
        broken = false;
        return Promise.reject(new Error('the broker was away for too long'));
      };
      return writer;
    };
    for (const n of [1, 2, 3]) bench.publish(n);
    const made = await bench.start(() => ok);
    await until(async () => (await bench.committedOffset()) === 3);
    const logged = (await bench.attempts()).map(({ eventId, attempt }) => [eventId, attempt]);
    expect(logged.sort()).toEqual([
      ['event-1', 1],
      ['event-2', 1],
      ['event-3', 1],
    ]);
    expect(made.length).toBeGreaterThan(3); // what could not be logged was sent again
  });

  it('gives up after the fifth attempt, says so, and tells it as an operational event (R-22)', async () => {
    bench.publish(1);
    bench.writeAttempt(anAttempt(1, { attempt: 4 }));
    await bench.start(() => unavailable);
    await until(async () => (await bench.committedOffset()) === 1);
    expect((await bench.attempts()).at(-1)).toMatchObject({
      attempt: 5,
      outcome: 'failed',
      decision: 'attempts_exhausted',
      nextDueAt: null,
      body: null,
    });
    expect(await bench.operations()).toMatchObject([
      { type: 'exhausted', subscriptionId: 'subscription-1', eventId: 'event-1', deliveryOffset: 0, statusCode: 503 },
    ]);
  });
});
