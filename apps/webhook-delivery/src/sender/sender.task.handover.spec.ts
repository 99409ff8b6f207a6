import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { countFetchers } from '../../../../test/support/open-fetchers.js';
import { holdsFor, until } from '../../../../test/support/until.js';
import { DeliveryMemory } from './backlogs/delivery-memory.js';
import { ATTEMPTS, never, ok, SenderHarness, unavailable } from './testing/sender-harness.js';
import { anAttempt } from './testing/sender-samples.js';
import { wrapFeeds } from './testing/wrap-feeds.js';

let harness: SenderHarness;

beforeEach(async () => {
  harness = await SenderHarness.create();
  harness.subscribe('subscription-1');
});

afterEach(() => harness.stop());

/** Holds up whatever passes until the test opens it. */
class Gate {
  open: () => void = () => undefined;
  private enter: () => void = () => undefined;
  readonly reached = new Promise<void>((resolve) => (this.enter = resolve));
  private readonly opened = new Promise<void>((resolve) => (this.open = resolve));

  passed(): Promise<void> {
    this.enter();
    return this.opened;
  }
}

describe('the sender, when a partition changes hands', () => {
  it('continues where its predecessor stopped although a record among the attempts cannot be read', async () => {
    harness.publish(1);
    harness.publish(2);
    harness.writeAttempt(anAttempt(1, { outcome: 'delivered', nextDueAt: null }));
    harness.backend.append(ATTEMPTS, { key: Buffer.from('subscription-1'), value: Buffer.from('no avro') });
    const made = await harness.start(() => ok);
    await until(async () => (await harness.committedOffset()) === 2);
    expect(made.map(({ delivery }) => delivery.eventId)).toEqual(['event-2']);
  });

  it('continues although a record among the attempts makes no sense: a number below 1, a delivery that the log does not have', async () => {
    harness.publish(1);
    harness.publish(2);
    harness.writeAttempt(anAttempt(1, { attempt: -5 }));
    harness.writeAttempt(anAttempt(2, { deliveryOffset: 2 ** 50 }));
    harness.writeAttempt(anAttempt(2, { outcome: 'delivered', nextDueAt: null }));
    const made = await harness.start(() => unavailable);
    await until(async () => (await harness.attempts()).length === 4);
    expect(made.map(({ delivery, attempt }) => [delivery.eventId, attempt])).toEqual([['event-1', 1]]);
    harness.publish(3);
    await until(() => made.length === 2);
  });

  it('begins nothing more once it stops', async () => {
    for (const n of [1, 2, 3]) harness.publish(n);
    let end: () => void = () => undefined;
    const made = await harness.start(() => new Promise((resolve) => (end = () => resolve(ok))), {
      slots: { perSubscription: 1 },
    });
    await until(() => made.length === 1);
    const stopped = harness.stop();
    end();
    await stopped;
    expect(made.map(({ delivery }) => delivery.eventId)).toEqual(['event-1']);
  });

  it('gives up its reservations when it stops, also those of retries that wait: another partition needs them (R-26)', async () => {
    for (const n of [1, 2, 3]) harness.publish(n);
    await harness.start(({ delivery }) => (delivery.eventId === 'event-3' ? ok : unavailable));
    await until(async () => (await harness.attempts()).length === 3);
    expect(harness.reserved).toBe(2);
    await harness.stop();
    expect(harness.reserved).toBe(0);
  });

  it('counts what is pending or parked only while it has the partition: the process may keep others (R-26)', async () => {
    for (const n of [1, 2, 3, 4]) harness.publish(n);
    await harness.start(never, { limits: { perSubscription: 2 } });
    await until(() => harness.pending === 2 && harness.parked === 1);
    await until(async () => (await harness.states()).get('subscription-1')?.parkedFrom === 0);
    await harness.stop();
    expect([harness.pending, harness.parked]).toEqual([0, 0]);
    await harness.start(() => ok);
    await until(async () => (await harness.attempts()).length === 4);
    await until(() => harness.pending === 0);
    expect(harness.parked).toBe(0);
  });

  it('gives up the memory of what it leaves unfinished: the process may keep other partitions (R-26)', async () => {
    const memory = new DeliveryMemory(100_000, null);
    for (const n of [1, 2]) harness.publish(n);
    const made = await harness.start(never, { memory });
    await until(() => made.length === 2);
    expect(memory.freeFor('fleet-1')).toBeLessThan(50_000);
    await harness.stop();
    expect(memory.freeFor('fleet-1')).toBe(50_000);
  });

  it('keeps nothing if it is revoked while it recovers, and has recovered only later (R-26)', async () => {
    const gate = new Gate();
    wrapFeeds(harness.backend, (source, from, open) => {
      const feed = open(source, from);
      if (source.topic !== ATTEMPTS.topic) return feed;
      return { next: () => gate.passed().then(() => feed.next()), close: () => feed.close() };
    });
    harness.writeAttempt(anAttempt(1, {}));
    harness.leaveFailing(60_000);
    await harness.start(() => ok);
    await gate.reached;
    await harness.stop();
    gate.open();
    await holdsFor(20, () => expect(harness.listening).toBe(0));
  });

  it('takes in nothing if it is revoked while a schema is looked up, which takes long (R-26)', async () => {
    const gate = new Gate();
    const memory = new DeliveryMemory(100_000, null);
    const { webhookDeliveries } = harness.codecs;
    const resolve = webhookDeliveries.resolve.bind(webhookDeliveries);
    webhookDeliveries.resolve = (ids) => gate.passed().then(() => resolve(ids));
    harness.publish(1);
    await harness.start(() => ok, { memory });
    await gate.reached;
    await harness.stop();
    gate.open();
    await holdsFor(20, () => expect([memory.freeFor('fleet-1'), harness.reserved]).toEqual([50_000, 0]));
  });

  it('leaves no connection to the brokers behind when it stops, though it has read deliveries again', async () => {
    const fetchers = countFetchers(harness.backend);
    for (let n = 1; n <= 10; n++) harness.publish(n);
    await harness.start(() => ok, { limits: { perSubscription: 2 } });
    await until(async () => (await harness.attempts()).length === 10);
    await harness.stop();
    // The task's own, that of what it recovers, and that of the catch-up.
    expect(fetchers.made).toBeGreaterThan(2);
    expect(fetchers.open).toBe(0);
  });

  it('gives what its predecessor had begun its reservations before anything else begins (R-22, R-26)', async () => {
    harness.subscribe('begun');
    for (const n of [1, 2, 3]) harness.publish(n, 'new');
    const nextDueAt = harness.nowMs() + 500;
    for (const n of [4, 5, 6, 7]) {
      harness.publish(n, 'begun');
      harness.writeAttempt(anAttempt(n, { subscriptionId: 'begun', nextDueAt }));
    }
    const made = await harness.start(() => ok, { reservations: { total: 4 } });
    await until(() => made.length === 7);
    expect(made.slice(0, 4).map(({ attempt, delivery }) => [attempt, delivery.subscriptionId])).toEqual(
      Array.from({ length: 4 }, () => [2, 'begun']),
    );
  });

  it('starts what became due while its ownership was in doubt in order, when the group has confirmed it (R-28)', async () => {
    let isValid = true;
    const answers: (() => void)[] = [];
    const confirm = (): Promise<boolean> =>
      isValid
        ? Promise.resolve(true)
        : new Promise((resolve) =>
            answers.push(() => {
              resolve(true);
            }),
          );
    const made = await harness.start(() => ok, { lease: { isValid: () => isValid, confirm } });
    harness.publish(1, 'subscription-1', 'device');
    await until(() => made.length === 1);
    isValid = false;
    for (const n of [2, 3]) harness.publish(n, 'subscription-1', 'device');
    await until(() => answers.length > 0);
    expect(made).toHaveLength(1);
    // A heartbeat is accepted before the answer to the question comes.
    isValid = true;
    harness.publish(4, 'subscription-1', 'device');
    await until(() => made.length === 4);
    expect(made.map(({ delivery }) => delivery.eventId)).toEqual(['event-1', 'event-2', 'event-3', 'event-4']);
    for (const answer of answers) answer();
  });

  it('leaves a successor the unfinished deliveries, with attempt number and due time, and no finished ones (R-25)', async () => {
    for (const n of [1, 2, 3]) harness.publish(n);
    const madeBefore = await harness.start((request) => {
      if (request.delivery.eventId === 'event-1') return unavailable;
      return request.delivery.eventId === 'event-2' ? ok : never(request);
    });
    await until(async () => (await harness.attempts()).length === 2);
    const firstTry = (await harness.attempts()).find(({ eventId }) => eventId === 'event-1');
    // The second sender takes the partition over, as after a kill: the first can no longer write.
    const made = await harness.start(() => ok);
    await until(async () => (await harness.committedOffset()) === 3);
    expect(made.map(({ delivery, attempt }) => [delivery.eventId, attempt]).sort()).toEqual([
      ['event-1', 2],
      ['event-3', 1],
    ]);
    // The one before has the same retry on its own timer, and must see that the partition is no longer its own.
    expect(madeBefore.map(({ attempt }) => attempt)).toEqual([1, 1, 1]);
    const second = (await harness.attempts()).find(({ eventId, attempt }) => eventId === 'event-1' && attempt === 2);
    expect(second?.dueAt).toBe(firstTry?.nextDueAt);
    expect(second?.startedAt).toBeGreaterThanOrEqual(firstTry?.nextDueAt ?? Infinity);
    expect(second?.firstAttemptAt).toBe(firstTry?.startedAt);
  });
});

describe('an outage of an endpoint, when a partition changes hands (R-29)', () => {
  const leaveSuspended = (): number => {
    const suspendedAt = Math.round(harness.nowMs() - 60_000);
    const nothingElse = { subscriptionId: 'subscription-1', parkedFrom: null, foldFrom: null, failedDays: [] };
    harness.writeState({ ...nothingElse, failingSince: suspendedAt, suspendedAt, updatedAt: suspendedAt });
    return suspendedAt;
  };
  const accepted = { statusCode: 200, outcome: 'delivered', decision: 'accepted', nextDueAt: null };
  const operations = async (): Promise<string[]> => (await harness.operations()).map(({ type }) => type);
  const hasNoState = async (): Promise<boolean> => (await harness.states()).get('subscription-1') === null;

  beforeEach(() => {
    harness.subscribe('subscription-1', { onOutage: 'hold' });
  });

  it('is over when a probe is accepted while its sender stops: the successor goes on as usual', async () => {
    leaveSuspended();
    harness.publish(1);
    let end: () => void = () => undefined;
    const probes = await harness.start(() => new Promise((resolve) => (end = () => resolve(ok))));
    await until(() => probes.length === 1);
    const stopped = harness.stop();
    end();
    await stopped;
    harness.publish(2);
    await harness.start(() => ok);
    await until(async () => (await harness.attempts()).length === 2);
    const made = (await harness.attempts()).map(({ eventId, probe }) => [eventId, probe]);
    expect(made).toEqual([
      ['event-1', true],
      ['event-2', false],
    ]);
    await until(hasNoState);
    expect(await operations()).toEqual(['resumed']);
  });

  it('is over when a probe was logged as accepted right before its sender was killed', async () => {
    const suspendedAt = leaveSuspended();
    for (const n of [1, 2, 3]) harness.publish(n);
    harness.writeAttempt(anAttempt(1, { ...accepted, probe: true, probes: 4, startedAt: suspendedAt + 45_000 }));
    const made = await harness.start(() => ok);
    await until(async () => (await harness.attempts()).length === 3);
    expect(made.map(({ delivery }) => delivery.eventId)).toEqual(['event-2', 'event-3']);
    expect((await harness.attempts()).slice(1).map(({ probe }) => probe)).toEqual([false, false]);
    await until(hasNoState);
    expect(await operations()).toEqual(['resumed']);
  });

  it('goes on where failures follow an acceptance, although the clock that dated this was ahead', async () => {
    const suspendedAt = leaveSuspended();
    for (const n of [1, 2]) harness.publish(n);
    harness.writeAttempt(anAttempt(1, { ...accepted, startedAt: suspendedAt + 30_000 }));
    harness.writeAttempt(anAttempt(2, { startedAt: suspendedAt - 1_000 }));
    const made = await harness.start(() => unavailable);
    await until(async () => (await harness.attempts()).length === 3);
    expect(made.map(({ delivery }) => delivery.eventId)).toEqual(['event-2']);
    expect((await harness.attempts()).at(-1)?.probe).toBe(true);
    expect(await operations()).not.toContain('resumed');
  });

  it('is over after an acceptance, also where an attempt that started before it has failed since', async () => {
    const suspendedAt = leaveSuspended();
    for (const n of [1, 2, 3]) harness.publish(n);
    harness.writeAttempt(anAttempt(1, { ...accepted, startedAt: suspendedAt + 45_000 }));
    harness.writeAttempt(anAttempt(2, { startedAt: suspendedAt + 44_000, durationMs: 5_000 }));
    await harness.start(() => ok);
    await until(hasNoState);
    expect(await operations()).toEqual(['resumed']);
  });

  it('has not lasted until an accepted attempt in the log, and goes on after one that is older than it', async () => {
    harness.leaveFailing(120_000);
    harness.leaveFailing(120_000, 'failing-since');
    harness.subscribe('failing-since');
    const startedAt = Math.round(harness.nowMs() - 30_000);
    harness.publish(1);
    harness.writeAttempt(anAttempt(1, { ...accepted, startedAt }));
    harness.publish(2, 'failing-since');
    const older = { subscriptionId: 'failing-since', startedAt: startedAt - 120_000 };
    harness.writeAttempt(anAttempt(2, { ...accepted, ...older }));
    await harness.start(() => ok);
    await until(hasNoState);
    expect((await harness.states()).get('failing-since')).toMatchObject({ failingSince: expect.any(Number) });
    expect(await operations()).toEqual([]);
  });
});
