import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { AttemptResult } from '@waypost/domain';
import type { RecordBatch, TopicPartition } from '@waypost/streams';
import type { PartitionFeed } from '@waypost/streams/admin';
import { until } from '../../../../../test/support/until.js';
import type { AttemptRequest, AttemptRun } from '../../single-attempt/attempt-runner.js';
import { bytesOf, DeliveryMemory } from '../backlogs/delivery-memory.js';
import { DELIVERIES, ok, SenderHarness, unavailable } from '../testing/sender-harness.js';
import { aDelivery, anAttempt } from '../testing/sender-samples.js';

let harness: SenderHarness;

beforeEach(async () => {
  harness = await SenderHarness.create();
  harness.subscribe('subscription-1');
});

afterEach(() => harness.stop());

const ROOMY_BYTES = 1_000_000;

/** A fleet may take up to half of the free bytes in total. */
function roomBeside(usedBytes: number): number {
  return (ROOMY_BYTES - usedBytes) / 2 - usedBytes;
}

/** A catch-up pass reads five records at a time, and waits before its second batch. */
function gatePass() {
  let goOn = (): void => undefined;
  const mayGoOn = new Promise<void>((resolve) => (goOn = resolve));
  const { backend } = harness;
  const makeFetcher = backend.fetcher.bind(backend);
  let feeds = 0;
  backend.fetcher = () => {
    const whole = makeFetcher();
    const open = whole.open.bind(whole);
    return Object.assign(whole, {
      open: (source: TopicPartition, from: number): PartitionFeed => {
        // The first feed is that of the partition's own reader.
        if (source.topic !== DELIVERIES.topic || ++feeds === 1) return open(source, from);
        let at = from;
        const next = async (): Promise<RecordBatch> => {
          if (at > from) await mayGoOn;
          const batch = await open(source, at).next();
          const records = batch.records.slice(0, 5);
          at = (records.at(-1)?.offset ?? batch.nextOffset - 1) + 1;
          return { ...batch, records, nextOffset: at };
        };
        return { next, close: () => undefined };
      },
    });
  };
  return { goOn };
}

describe('a paused subscription (R-16)', () => {
  const delivered = async (): Promise<string[]> =>
    (await harness.attempts()).filter(({ outcome }) => outcome === 'delivered').map(({ eventId }) => eventId);
  const names = (from: number, to: number): string[] =>
    Array.from({ length: to - from + 1 }, (_, i) => `event-${String(from + i)}`);

  it('gets nothing, delays no other subscription, and does not hold back the committed position', async () => {
    harness.subscribe('subscription-1', { status: 'paused' });
    harness.subscribe('other');
    for (let n = 1; n <= 20; n++) harness.publish(n);
    harness.publish(21, 'other');
    const made = await harness.start(() => ok);
    await until(async () => (await harness.committedOffset()) === 21);
    expect(made.map(({ delivery }) => delivery.subscriptionId)).toEqual(['other']);
  });

  it('does not hold back the committed position with a single delivery either', async () => {
    harness.subscribe('subscription-1', { status: 'paused' });
    harness.subscribe('other');
    harness.publish(1);
    harness.publish(2, 'other');
    await harness.start(() => ok);
    await until(async () => (await harness.committedOffset()) === 2);
    expect((await harness.states()).get('subscription-1')).toMatchObject({ parkedFrom: 0 });
  });

  it('gets all that waited, in order and once, when it is active again', async () => {
    harness.subscribe('subscription-1', { status: 'paused' });
    for (let n = 1; n <= 20; n++) harness.publish(n);
    await harness.start(() => ok, { limits: { perSubscription: 5 } });
    await until(async () => (await harness.committedOffset()) === 20);
    harness.subscribe('subscription-1', { status: 'active' });
    await until(async () => (await delivered()).length >= 20);
    expect(await delivered()).toEqual(names(1, 20));
    await until(async () => (await harness.states()).get('subscription-1') === null);
  });

  it('gets no retry either: attempts and their count continue when it is active again', async () => {
    harness.publish(1);
    let isUp = false;
    const made = await harness.start(() => (isUp ? ok : unavailable));
    await until(async () => (await harness.attempts()).length === 1);
    harness.subscribe('subscription-1', { status: 'paused' });
    const dueAt = (await harness.attempts())[0]?.nextDueAt ?? NaN;
    await until(() => harness.nowMs() > dueAt + 200);
    expect(made).toHaveLength(1);
    isUp = true;
    harness.subscribe('subscription-1', { status: 'active' });
    await until(async () => (await delivered()).length === 1);
    expect(made.map(({ attempt }) => attempt)).toEqual([1, 2]);
  });

  it('gets the retries that came due meanwhile as due when it is active again, also those that had left memory', async () => {
    for (const n of [1, 2, 3]) harness.publish(n);
    let isUp = false;
    await harness.start(() => (isUp ? ok : unavailable));
    await until(async () => (await harness.attempts()).length === 3);
    harness.subscribe('subscription-1', { status: 'paused' });
    await until(() => harness.pending === 1);
    const lastDueAt = Math.max(...(await harness.attempts()).map(({ nextDueAt }) => nextDueAt ?? NaN));
    await until(() => harness.nowMs() > lastDueAt + 200);
    isUp = true;
    const activeAt = harness.nowMs();
    harness.subscribe('subscription-1', { status: 'active' });
    await until(async () => (await delivered()).length === 3);
    const retries = (await harness.attempts()).filter(({ attempt }) => attempt === 2);
    for (const { dueAt } of retries) expect(dueAt).toBeGreaterThanOrEqual(activeAt);
  });

  it('gets the retries that came due during a pause as due at its end in another process, too', async () => {
    harness.subscribe('subscription-1', { status: 'paused' });
    for (const n of [1, 2, 3]) harness.publish(n);
    for (const n of [1, 2, 3]) harness.writeAttempt(anAttempt(n, { nextDueAt: harness.nowMs() - 3_600_000 }));
    await harness.start(() => ok);
    await until(() => harness.pending === 1);
    const activeAt = Math.floor(harness.nowMs());
    harness.subscribe('subscription-1', { status: 'active' });
    await until(async () => (await delivered()).length === 3);
    const retries = (await harness.attempts()).filter(({ attempt }) => attempt === 2);
    for (const { dueAt } of retries) expect(dueAt).toBeGreaterThanOrEqual(activeAt);
  });

  it('gets a retry when it is due, not at the moment in which it is active again before that (R-22)', async () => {
    const fast = await SenderHarness.create({ speed: 10 });
    fast.subscribe('subscription-1', { status: 'paused' });
    fast.publish(1);
    const nextDueAt = fast.nowMs() + 15_000;
    fast.writeAttempt(anAttempt(1, { nextDueAt }));
    const made = await fast.start(() => ok);
    await until(() => fast.pending === 1);
    fast.subscribe('subscription-1', { status: 'active' });
    await until(() => made.length === 1);
    await fast.stop();
    expect(made[0]?.attempt).toBe(2);
    expect(made[0]?.started.epochMs).toBeGreaterThanOrEqual(nextDueAt);
  });

  it('does not get what waited for a token or a connection either: it counts as no attempt, and is made afterwards', async () => {
    harness.publish(1);
    harness.publish(2);
    const waiting: (() => void)[] = [];
    const numbers: number[] = [];
    const isPaused = (): boolean => harness.directory.isPaused('subscription-1');
    const run = async ({ attempt }: AttemptRequest): Promise<AttemptRun> => {
      numbers.push(attempt);
      if (numbers.length <= 2) await new Promise<void>((resolve) => waiting.push(resolve));
      if (isPaused()) return { type: 'paused' };
      const about = { url: 'https://example.org/', auth: 'none', discardToken: () => undefined } as const;
      return { type: 'ended', ...about, result: ok };
    };
    await harness.start(undefined, { runner: { run } });
    await until(() => waiting.length === 2);
    harness.subscribe('subscription-1', { status: 'paused' });
    for (const go of waiting) go();
    await until(() => harness.pending === 1 && harness.reserved === 0);
    expect(await harness.attempts()).toEqual([]);
    harness.subscribe('subscription-1', { status: 'active' });
    await until(async () => (await delivered()).length === 2);
    expect(numbers).toEqual([1, 1, 1, 1]);
    expect(await delivered()).toEqual(names(1, 2));
  });

  it('costs a state record every 30 s at most while nothing of it waits, however much others get (R-26)', async () => {
    const fast = await SenderHarness.create({ speed: 50 });
    fast.subscribe('subscription-1');
    fast.subscribe('other');
    fast.publish(1);
    let end = (): void => undefined;
    const answered = new Promise<void>((resolve) => (end = resolve));
    const made = await fast.start(async ({ delivery }) => {
      if (delivery.eventId === 'event-1') await answered;
      return ok;
    });
    await until(() => made.length === 1);
    fast.subscribe('subscription-1', { status: 'paused' });
    end();
    await until(async () => (await fast.stateRecordsOf('subscription-1')) > 0);
    const fromMs = fast.monotonicMs();
    for (let n = 2; fast.monotonicMs() < fromMs + 45_000; n++) {
      fast.publish(n, 'other');
      await until(() => made.length === n);
    }
    const elapsedMs = fast.monotonicMs() - fromMs;
    expect(await fast.stateRecordsOf('subscription-1')).toBeLessThanOrEqual(2 + Math.floor(elapsedMs / 30_000));
    await fast.stop();
  });

  it('gets nothing of what waits when it is disabled then: all of it ends as failed, in order and once', async () => {
    harness.subscribe('subscription-1', { status: 'paused' });
    for (let n = 1; n <= 20; n++) harness.publish(n);
    // As the runner does, without a request.
    const refuse = (): AttemptResult => ({ type: 'error', errorCode: 'subscription_disabled', detail: '' });
    await harness.start(refuse, { limits: { perSubscription: 5 } });
    await until(async () => (await harness.committedOffset()) === 20);
    harness.subscribe('subscription-1', { status: 'disabled' });
    await until(async () => (await harness.attempts()).length >= 20);
    const ended = (await harness.attempts()).map(({ eventId, outcome, errorCode }) => [eventId, outcome, errorCode]);
    expect(ended).toEqual(names(1, 20).map((eventId) => [eventId, 'failed', 'subscription_disabled']));
    await until(async () => (await harness.states()).get('subscription-1') === null);
  });

  it('keeps one delivery in memory; the rest is read from the log again, nothing finished among it', async () => {
    for (let n = 1; n <= 40; n++) harness.publish(n);
    // Every second one is accepted before the pause, so that what waits has gaps.
    const isOdd = (eventId: string): boolean => Number(eventId.slice(6)) % 2 === 1;
    let isUp = false;
    const made = await harness.start(({ delivery }) => (isUp || isOdd(delivery.eventId) ? ok : unavailable));
    await until(async () => (await harness.attempts()).length === 40);
    harness.subscribe('subscription-1', { status: 'paused' });
    await until(async () => (await harness.states()).get('subscription-1')?.parkedFrom === 1);
    await until(async () => (await harness.committedOffset()) === 40);
    expect(harness.pending).toBe(1);
    isUp = true;
    harness.subscribe('subscription-1', { status: 'active' });
    await until(async () => (await delivered()).length >= 40);
    expect(new Set(await delivered()).size).toBe(40);
    expect(made.filter(({ attempt }) => attempt > 2)).toEqual([]);
  });

  it.each([
    ['counts the progress of what has been tried as memory of its fleet, until it is read again (R-26)', 40, 39],
    ['keeps nothing in memory of what has not been tried yet, and gets it all the same (R-26)', 1, 0],
  ])('%s', async (_, tried, kept) => {
    for (let n = 1; n <= 40; n++) harness.publish(n);
    const memory = new DeliveryMemory(ROOMY_BYTES, null);
    let isUp = false;
    const answer = () => (isUp ? ok : unavailable);
    await harness.start(answer, { memory, reservations: { total: 256, perOrigin: tried === 1 ? 1 : 256 } });
    await until(async () => (await harness.attempts()).length >= tried && harness.pending === 40);
    harness.subscribe('subscription-1', { status: 'paused' });
    await until(() => harness.pending === 1);
    expect(memory.freeFor('fleet-1')).toBe(roomBeside(bytesOf(aDelivery(1)) + kept * 300));
    await until(async () => (await harness.states()).get('subscription-1')?.known != null);

    const successors = new DeliveryMemory(ROOMY_BYTES, null);
    await harness.start(answer, { memory: successors });
    await until(() => successors.freeFor('fleet-1') === roomBeside(bytesOf(aDelivery(1)) + kept * 300));
    isUp = true;
    harness.subscribe('subscription-1', { status: 'active' });
    await until(async () => (await delivered()).length >= 40);
    expect([...(await delivered())].sort()).toEqual(names(1, 40).sort());
    await until(() => successors.freeFor('fleet-1') === roomBeside(0));
  });

  it('gets what waits behind a record that is no delivery, which is not put into the quarantine again (R-2)', async () => {
    for (const n of [1, 2]) harness.publish(n);
    harness.append(Buffer.from('no delivery'));
    harness.publish(3);
    let isUp = false;
    await harness.start(() => (isUp ? ok : unavailable), { reservations: { total: 256, perOrigin: 1 } });
    await until(async () => (await harness.attempts()).length > 0 && harness.pending === 3);
    harness.subscribe('subscription-1', { status: 'paused' });
    await until(() => harness.pending === 1);
    isUp = true;
    harness.subscribe('subscription-1', { status: 'active' });
    await until(async () => (await delivered()).length === 3);
    expect(await harness.rejected()).toHaveLength(1);
  });

  it('gives that memory back when its partition goes to another process', async () => {
    for (let n = 1; n <= 10; n++) harness.publish(n);
    const memory = new DeliveryMemory(ROOMY_BYTES, null);
    await harness.start(() => unavailable, { memory });
    await until(async () => (await harness.attempts()).length === 10);
    harness.subscribe('subscription-1', { status: 'paused' });
    await until(() => harness.pending === 1);
    await harness.stop();
    expect(memory.freeFor('fleet-1')).toBe(roomBeside(0));
  });

  it('gets what it left to the log while a pass over the log was beyond it', async () => {
    const pass = gatePass();
    for (let n = 1; n <= 30; n++) harness.publish(n);
    let isUp = false;
    // The first delivery of the pass is to be retried when the pause comes.
    await harness.start(({ delivery }) => (isUp || Number(delivery.eventId.slice(6)) <= 10 ? ok : unavailable), {
      limits: { perSubscription: 10 },
    });
    await until(async () => (await harness.attempts()).length >= 15);
    harness.subscribe('subscription-1', { status: 'paused' });
    await until(() => harness.pending === 1);
    isUp = true;
    harness.subscribe('subscription-1', { status: 'active' });
    pass.goOn();
    await until(async () => (await delivered()).length >= 30);
    expect([...(await delivered())].sort()).toEqual(names(1, 30).sort());
  });

  it('is continued by a successor without repeating what was accepted before the pause', async () => {
    for (let n = 1; n <= 40; n++) harness.publish(n);
    const isOdd = (eventId: string): boolean => Number(eventId.slice(6)) % 2 === 1;
    await harness.start(({ delivery }) => (isOdd(delivery.eventId) ? ok : unavailable));
    await until(async () => (await harness.attempts()).length === 40);
    harness.subscribe('subscription-1', { status: 'paused' });
    await until(async () => (await harness.committedOffset()) === 40);
    const made = await harness.start(() => ok);
    harness.subscribe('subscription-1', { status: 'active' });
    await until(async () => (await delivered()).length >= 40);
    expect(new Set(await delivered()).size).toBe(40);
    expect(made.map(({ delivery, attempt }) => `${delivery.eventId} ${String(attempt)}`).sort()).toEqual(
      names(1, 40)
        .filter((eventId) => !isOdd(eventId))
        .map((eventId) => `${eventId} 2`)
        .sort(),
    );
  });

  it('keeps what is in flight until it has ended, and only then leaves the rest to the log', async () => {
    for (let n = 1; n <= 3; n++) harness.publish(n);
    const answers: (() => void)[] = [];
    const answer = () => new Promise<typeof unavailable>((resolve) => answers.push(() => resolve(unavailable)));
    await harness.start(answer);
    await until(() => answers.length === 3);
    harness.subscribe('subscription-1', { status: 'paused' });
    harness.publish(4);
    await until(async () => (await harness.committedOffset()) === 4);
    expect(harness.pending).toBe(3);
    for (const end of answers) end();
    await until(() => harness.pending === 1);
    expect((await harness.attempts()).map(({ eventId }) => eventId)).toEqual(names(1, 3));
  });
});
