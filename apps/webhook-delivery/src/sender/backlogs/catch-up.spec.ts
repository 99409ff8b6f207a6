import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { type AttemptResult, DELIVERY_UNSTARTED } from '@waypost/domain';
import { flushed, holdsFor, until } from '../../../../../test/support/until.js';
import type { AttemptRequest } from '../../single-attempt/attempt-runner.js';
import { DELIVERIES, never, ok, SenderHarness, unavailable } from '../testing/sender-harness.js';
import { aDelivery } from '../testing/sender-samples.js';
import { wrapFeeds } from '../testing/wrap-feeds.js';
import { CatchUp } from './catch-up.js';
import { DeliveryMemory } from './delivery-memory.js';
import { PartitionBacklogs } from './partition-backlogs.js';

async function build({ logStart = 0 } = {}) {
  const { backend, codecs } = await SenderHarness.create();
  backend.startOffset = () => Promise.resolve(logStart);
  const deleted: (string | number)[][] = [];
  const backlogs = backlogsOf({ perSubscription: 500 });
  let caughtUp = 0;
  const catchUp = new CatchUp({
    backend,
    codecs,
    partition: 0,
    backlogs,
    monotonicMs: () => 0,
    take: () => null,
    onCaughtUp: () => caughtUp++,
    onDeleted: (...range) => deleted.push(range),
    leaveOut: () => Promise.resolve(null),
    onFailure: (error) => {
      throw error;
    },
  });
  return { backlogs, catchUp, deleted, caughtUp: () => caughtUp };
}

describe('catching up', () => {
  it('skips a backlog ahead of the reader: everything below its position is finished already', async () => {
    const { backlogs, catchUp, caughtUp } = await build();
    const backlog = backlogs.backlog('parked by a predecessor');
    backlogs.park(backlog, 1_900);
    backlogs.position = 100;
    catchUp.kick();
    await holdsFor(20, () => {
      expect([backlog.parkedFrom, caughtUp()]).toEqual([1_900, 0]);
    });
    await catchUp.close();
  });

  it('reports what retention has deleted before it was sent, and continues after it (R-29)', async () => {
    const { backlogs, catchUp, deleted, caughtUp } = await build({ logStart: 1_900 });
    backlogs.park(backlogs.backlog('from before'), 100);
    backlogs.park(backlogs.backlog('from after'), 1_900);
    backlogs.position = 1_900;
    catchUp.kick();
    await until(() => caughtUp() === 2);
    expect(deleted).toEqual([['from before', 100, 1_900]]);
    await catchUp.close();
  });

  it('ends at once for a backlog at the position of the reader', async () => {
    const { backlogs, catchUp, caughtUp } = await build();
    const backlog = backlogs.backlog('parked by a predecessor');
    backlogs.park(backlog, 1_900);
    backlogs.position = 1_900;
    catchUp.kick();
    await until(() => {
      expect([backlog.parkedFrom, caughtUp()]).toEqual([null, 1]);
    });
    await catchUp.close();
  });
});

function backlogsOf(limits: { readonly perSubscription: number }): PartitionBacklogs {
  return new PartitionBacklogs({
    limits: { ...limits, slowAfterMs: Infinity },
    memory: new DeliveryMemory(Infinity, null),
    start: { offset: 0, foldFrom: 0 },
    begun: { upTo: -1, foldFrom: 0 },
    attemptsEnd: () => 0,
    monotonicMs: () => 0,
    isPaused: () => false,
  });
}

/** Offsets that were fetched, with repetitions; a backlog is full after `perSubscription` deliveries. */
async function fetched(parked: Record<string, number>, { records = 20_000, perSubscription = 10 } = {}) {
  const made = await SenderHarness.create();
  for (let offset = 0; offset < records; offset++) {
    const isEarly = offset < records / 2;
    made.publish(offset, isEarly ? 'early' : 'late');
  }
  const backlogs = backlogsOf({ perSubscription });
  backlogs.position = records;
  for (const [id, offset] of Object.entries(parked)) backlogs.park(backlogs.backlog(id), offset);
  const { backend, codecs } = made;
  let read = 0;
  const fetcher = backend.fetcher.bind(backend);
  backend.fetcher = () => {
    const whole = fetcher();
    const open = whole.open.bind(whole);
    whole.open = (source, from) => {
      const feed = open(source, from);
      const next = feed.next.bind(feed);
      feed.next = async () => {
        const batch = await next();
        const records = batch.records.slice(0, 500);
        read += records.length;
        return { ...batch, records, nextOffset: (records.at(-1)?.offset ?? batch.nextOffset - 1) + 1 };
      };
      return feed;
    };
    return whole;
  };
  const taken: string[] = [];
  const catchUp = new CatchUp({
    backend,
    codecs,
    partition: 0,
    backlogs,
    monotonicMs: () => 0,
    onCaughtUp: () => undefined,
    onDeleted: () => undefined,
    leaveOut: () => Promise.resolve(null),
    take: (backlog, { offset }) => {
      taken.push(backlog.subscriptionId);
      const delivery = aDelivery(offset);
      const fresh = { progress: DELIVERY_UNSTARTED, due: { epochMs: 0, monotonicMs: 0 }, isHeld: false, begun: null };
      backlogs.admit({ backlog, offset, appendedAt: 0, delivery, traceparent: null, tracestate: null, ...fresh });
      return null;
    },
    onFailure: (error) => {
      throw error;
    },
  });
  catchUp.kick();
  await until(() => Object.keys(parked).every((id) => backlogs.backlog(id).unfinished.size === perSubscription));
  await catchUp.close();
  return { read, taken };
}

describe('a batch that cannot be decoded, behind the position (R-45)', () => {
  /** The only delivery of a parked backlog comes after the batch, or after the failure of it. */
  async function met(leaveOut: () => Promise<number | null>) {
    const made = await SenderHarness.create();
    for (let offset = 0; offset < 3; offset++) made.publish(offset, 'parked');
    const { backend, codecs } = made;
    const [backlogs, taken, failures] = [backlogsOf({ perSubscription: 500 }), [] as number[], [] as Error[]];
    const corrupt = new Error('It cannot be decoded.');
    wrapFeeds(backend, (source, from, open) =>
      from < 2 ? { next: () => Promise.reject(corrupt), close: () => undefined } : open(source, from),
    );
    backlogs.park(backlogs.backlog('parked'), 0);
    backlogs.position = 3;
    let caughtUp = 0;
    const catchUp = new CatchUp({
      backend,
      codecs,
      partition: 0,
      backlogs,
      monotonicMs: () => 0,
      take: (_, { offset }) => {
        taken.push(offset);
        return null;
      },
      onCaughtUp: () => caughtUp++,
      onDeleted: () => undefined,
      leaveOut,
      onFailure: (error) => failures.push(error),
    });
    catchUp.kick();
    await until(() => caughtUp + failures.length > 0);
    await catchUp.close();
    return { taken, failures, corrupt };
  }

  it('is left out once a command skips it', async () => {
    const { taken, failures } = await met(() => Promise.resolve(2));
    expect([taken, failures]).toEqual([[2], []]);
  });

  it('ends the pass until then', async () => {
    const { taken, failures, corrupt } = await met(() => Promise.resolve(null));
    expect([taken, failures]).toEqual([[], [corrupt]]);
  });
});

describe('a pass over the log (R-26)', () => {
  it('skips the stretch between two parked deliveries that no backlog needs', async () => {
    const { read, taken } = await fetched({ early: 0, late: 10_000 });
    expect(taken.filter((id) => id === 'early')).toHaveLength(10);
    expect(taken.filter((id) => id === 'late')).toHaveLength(10);
    expect(read).toBeLessThanOrEqual(2_000);
  });

  it('continues reading while a backlog needs what lies between', async () => {
    const { taken } = await fetched({ early: 0, late: 4_000 }, { perSubscription: 200, records: 5_000 });
    expect(taken.filter((id) => id === 'late')).toHaveLength(200);
  });
});

let harness: SenderHarness;

beforeEach(async () => {
  harness = await SenderHarness.create({ speed: 20 });
  for (const id of ['dead', 'healthy', 'other']) harness.subscribe(id);
});

afterEach(() => harness.stop());

const limits = { perSubscription: 4 };

function isDead({ delivery }: AttemptRequest): boolean {
  return delivery.subscriptionId === 'dead';
}
function offsetsOf(subscriptionId: string, made: readonly AttemptRequest[]): string[] {
  return made
    .filter(({ delivery }) => delivery.subscriptionId === subscriptionId)
    .map(({ delivery }) => delivery.eventId);
}
function names(from: number, to: number): string[] {
  return Array.from({ length: to - from + 1 }, (_, i) => `event-${String(from + i)}`);
}

describe('a subscription beyond its bound (R-26)', () => {
  it('leaves what is in flight alone when it cannot be read: else that would be sent again (R-25)', async () => {
    let isCorrupt = true;
    let answer: () => void = () => undefined;
    wrapFeeds(harness.backend, (source, from, open) => {
      if (source.topic !== DELIVERIES.topic || !isCorrupt || from === 0) return open(source, from);
      const next = (): Promise<never> => {
        isCorrupt = false;
        // Once all that follows at once has been done, and before any timer.
        process.nextTick(() => answer());
        return Promise.reject(new Error('It cannot be decoded.'));
      };
      return { next, close: () => undefined };
    });
    harness.publish(1, 'healthy');
    for (let n = 2; n <= 7; n++) harness.publish(n, 'dead');
    const answers = (request: AttemptRequest): AttemptResult | Promise<AttemptResult | null> => {
      if (request.delivery.subscriptionId !== 'healthy') return ok;
      return Promise.race([never(request), new Promise<AttemptResult>((resolve) => (answer = () => resolve(ok)))]);
    };
    const made = await harness.start(answers, { limits });
    await until(async () => (await harness.attempts()).length === 7);
    expect(offsetsOf('healthy', made)).toEqual(['event-1']);
  });

  it('does not delay the others of its partition with any backlog', async () => {
    for (let n = 1; n <= 200; n++) harness.publish(n, 'dead');
    for (let n = 201; n <= 210; n++) harness.publish(n, 'healthy');
    const made = await harness.start((request) => (isDead(request) ? never(request) : ok), { limits });
    await until(() => offsetsOf('healthy', made).length === 10);
    expect(offsetsOf('dead', made)).toEqual(names(1, 4));
  });

  it('is left out of the committed position once its own record says where it resumes', async () => {
    for (let n = 1; n <= 20; n++) harness.publish(n, 'dead');
    const last = harness.publish(21, 'healthy');
    await harness.start((request) => (isDead(request) ? never(request) : ok), { limits });
    await until(async () => (await harness.committedOffset()) === last + 1);
    expect((await harness.states()).get('dead')).toMatchObject({ parkedFrom: 0, suspendedAt: null });
  });

  it('is read from the log again as its deliveries finish: in order, each once', async () => {
    for (let n = 1; n <= 100; n++) harness.publish(n, n % 3 === 0 ? 'other' : 'dead');
    const made = await harness.start(() => ok, { limits, slots: { perSubscription: 1 } });
    await until(() => made.length === 100);
    const expected = names(1, 100).filter((_, i) => (i + 1) % 3 !== 0);
    expect(offsetsOf('dead', made)).toEqual(expected);
    await until(async () => (await harness.attempts()).length >= 100);
    expect(await harness.attempts()).toHaveLength(100);
  });

  it('takes in new deliveries while it catches up, without gaps or repetitions', async () => {
    let published = 0;
    const publishSome = (): void => {
      for (let i = 0; i < 10 && published < 300; i++) harness.publish(++published, 'dead');
    };
    publishSome();
    const made = await harness.start(
      async () => {
        publishSome();
        await flushed();
        return ok;
      },
      { limits, slots: { perSubscription: 2 } },
    );
    await until(() => made.length >= 300);
    expect(offsetsOf('dead', made)).toEqual(names(1, 300));
    await until(async () => (await harness.committedOffset()) === 300);
  });

  it('needs no record once it has caught up and is attached to the position again', async () => {
    for (let n = 1; n <= 30; n++) harness.publish(n, 'dead');
    let isUp = false;
    await harness.start(() => (isUp ? ok : unavailable), { limits });
    await until(async () => (await harness.states()).get('dead')?.parkedFrom === 0);
    isUp = true;
    await until(async () => (await harness.states()).get('dead') === null);
    await until(async () => (await harness.committedOffset()) === 30);
  });

  it('continues in a successor: nothing is missing, nothing finished is sent again', async () => {
    for (let n = 1; n <= 60; n++) harness.publish(n, n % 2 === 0 ? 'dead' : 'healthy');
    let finished = 0;
    await harness.start((request) => (isDead(request) && ++finished > 10 ? never(request) : ok), { limits });
    await until(async () => (await harness.attempts()).length === 40);
    await until(async () => (await harness.committedOffset()) === 60);
    const successor = await harness.start(() => ok, { limits });
    await until(async () => (await harness.attempts()).length === 60);
    const logged = (await harness.attempts()).map(({ eventId }) => eventId);
    expect(new Set(logged).size).toBe(60);
    expect(offsetsOf('healthy', successor)).toEqual([]);
    expect(offsetsOf('dead', successor)).toEqual(
      names(1, 60)
        .filter((_, i) => (i + 1) % 2 === 0)
        .slice(10),
    );
  });

  it('shares the memory of its partition with the others', async () => {
    // Some 50 deliveries.
    const tight = { perSubscription: 50, bytes: 52_000 };
    for (let n = 1; n <= 60; n++) harness.publish(n, 'dead');
    for (let n = 61; n <= 80; n++) harness.publish(n, 'healthy');
    const made = await harness.start((request) => (isDead(request) ? never(request) : ok), { limits: tight });
    await until(() => offsetsOf('healthy', made).length === 20);
    expect(offsetsOf('healthy', made)).toEqual(names(61, 80));
  });
});

describe('a partition with many parked subscriptions (R-26)', () => {
  const PARKED = 100;
  const DELIVERIES = 2_000;

  it('does not look at all of them whenever a delivery of another one ends', async () => {
    const harness = await SenderHarness.create();
    for (let n = 0; n < PARKED; n++) {
      harness.subscribe(`paused-${String(n)}`, { status: 'paused' });
      for (const i of [1, 2]) harness.publish(2 * n + i, `paused-${String(n)}`);
    }
    harness.subscribe('other');
    const looks = jest.spyOn(PartitionBacklogs.prototype, 'hasMuchRoom');
    for (let n = 0; n < DELIVERIES; n++) harness.publish(1_000 + n, 'other');
    await harness.start(() => ok, { limits: { perSubscription: DELIVERIES } });
    await until(async () => (await harness.attempts()).length === DELIVERIES);
    await harness.stop();
    expect(looks.mock.calls.length).toBeLessThan((PARKED * DELIVERIES) / 2);
    looks.mockRestore();
  });
});
