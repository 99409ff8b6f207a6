import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { AttemptRequest } from '../attempt/attempt-runner.js';
import { never, ok, SenderBench, unavailable } from './testing/sender-bench.js';
import { until } from '../../../../test/support/until.js';

let bench: SenderBench;

beforeEach(async () => {
  bench = await SenderBench.create({ speed: 20 });
  for (const id of ['dead', 'healthy', 'other']) bench.subscribe(id);
});

afterEach(() => bench.stop());

const limits = { perSubscription: 4, total: 1_000, guaranteed: 2 };

const isDead = ({ delivery }: AttemptRequest): boolean => delivery.subscriptionId === 'dead';
const offsetsOf = (subscriptionId: string, made: readonly AttemptRequest[]): string[] =>
  made.filter(({ delivery }) => delivery.subscriptionId === subscriptionId).map(({ delivery }) => delivery.eventId);
const names = (from: number, to: number): string[] =>
  Array.from({ length: to - from + 1 }, (_, i) => `event-${String(from + i)}`);

describe('a subscription beyond its bound (R-26)', () => {
  it('does not hold up the others of its partition, however much waits for it', async () => {
    for (let n = 1; n <= 200; n++) bench.publish(n, 'dead');
    for (let n = 201; n <= 210; n++) bench.publish(n, 'healthy');
    const made = await bench.start((request) => (isDead(request) ? never(request) : ok), { limits });
    await until(() => offsetsOf('healthy', made).length === 10);
    expect(offsetsOf('dead', made)).toEqual(names(1, 4));
  });

  it('is left out of the committed position once a record of its own says where it goes on', async () => {
    for (let n = 1; n <= 20; n++) bench.publish(n, 'dead');
    const last = bench.publish(21, 'healthy');
    await bench.start((request) => (isDead(request) ? never(request) : ok), { limits });
    await until(async () => (await bench.committedOffset()) === last + 1);
    expect((await bench.states()).get('dead')).toMatchObject({ parkedFrom: 0, suspendedAt: null });
  });

  it('is read in again from the log as its deliveries finish: in order, each once', async () => {
    for (let n = 1; n <= 100; n++) bench.publish(n, n % 3 === 0 ? 'other' : 'dead');
    const made = await bench.start(() => ok, { limits, turns: { perSubscription: 1 } });
    await until(() => made.length === 100);
    const expected = names(1, 100).filter((_, i) => (i + 1) % 3 !== 0);
    expect(offsetsOf('dead', made)).toEqual(expected);
    await until(async () => (await bench.attempts()).length >= 100);
    expect(await bench.attempts()).toHaveLength(100);
  });

  it('takes in what comes while it catches up, without a gap and without a repetition', async () => {
    let published = 0;
    const publishSome = (): void => {
      for (let i = 0; i < 10 && published < 300; i++) bench.publish(++published, 'dead');
    };
    publishSome();
    const made = await bench.start(
      async () => {
        publishSome();
        await new Promise((resolve) => setTimeout(resolve, 1));
        return ok;
      },
      { limits, turns: { perSubscription: 2 } },
    );
    await until(() => made.length >= 300);
    expect(offsetsOf('dead', made)).toEqual(names(1, 300));
    await until(async () => (await bench.committedOffset()) === 300);
  });

  it('needs no record any more when it has caught up and the position accounts for it again', async () => {
    for (let n = 1; n <= 30; n++) bench.publish(n, 'dead');
    let isUp = false;
    await bench.start(() => (isUp ? ok : unavailable), { limits });
    await until(async () => (await bench.states()).get('dead')?.parkedFrom === 0);
    isUp = true;
    await until(async () => (await bench.states()).get('dead') === null);
    await until(async () => (await bench.committedOffset()) === 30);
  });

  it('goes on in a successor: nothing is missing, nothing that is finished is sent again', async () => {
    for (let n = 1; n <= 60; n++) bench.publish(n, n % 2 === 0 ? 'dead' : 'healthy');
    let finished = 0;
    await bench.start((request) => (isDead(request) && ++finished > 10 ? never(request) : ok), { limits });
    await until(async () => (await bench.attempts()).length === 40);
    await until(async () => (await bench.committedOffset()) === 60);
    const successor = await bench.start(() => ok, { limits });
    await until(async () => (await bench.attempts()).length === 60);
    const logged = (await bench.attempts()).map(({ eventId }) => eventId);
    expect(new Set(logged).size).toBe(60);
    expect(offsetsOf('healthy', successor)).toEqual([]);
    expect(offsetsOf('dead', successor)).toEqual(
      names(1, 60)
        .filter((_, i) => (i + 1) % 2 === 0)
        .slice(10),
    );
  });

  it('shares the memory of its partition with others, but keeps a guaranteed part when they use all of it', async () => {
    const tight = { perSubscription: 50, total: 50, guaranteed: 2 };
    for (let n = 1; n <= 60; n++) bench.publish(n, 'dead');
    for (let n = 61; n <= 80; n++) bench.publish(n, 'healthy');
    const made = await bench.start((request) => (isDead(request) ? never(request) : ok), { limits: tight });
    await until(() => offsetsOf('healthy', made).length === 20);
    expect(offsetsOf('healthy', made)).toEqual(names(61, 80));
  });
});
