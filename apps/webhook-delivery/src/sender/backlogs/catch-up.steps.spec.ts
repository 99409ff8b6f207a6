import { beforeEach, describe, expect, it } from '@jest/globals';
import { DELIVERY_UNSTARTED } from '@waypost/domain';
import { StreamsError } from '@waypost/streams';
import { flushed } from '../../../../../test/support/until.js';
import { PassHarness } from '../testing/pass-harness.js';

let harness: PassHarness;

beforeEach(() => {
  harness = new PassHarness();
});

/** A pass that starts, and has asked for its first batch. */
function passBegins(position: number) {
  harness.backlogs.position = position;
  harness.catchUp.kick();
  return harness.reading(1);
}

describe('a pass over the log (R-26)', () => {
  it('takes in what is before the reader of the partition, and leaves to that what follows in the same batch', async () => {
    const backlog = harness.park('a', 0);
    const reading = await passBegins(3);
    await reading.answers({ from: 0, of: ['a', 'b', 'a', 'a', 'a'] });
    expect([harness.taken, backlog.parkedFrom]).toEqual([{ a: [0, 2] }, null]);
    expect([harness.caughtUp, harness.openFeeds]).toEqual([1, 0]);
  });

  it('takes in nothing from before where a subscription was parked: that is in memory or finished', async () => {
    harness.park('a', 2);
    harness.park('b', 0);
    const reading = await passBegins(3);
    await reading.answers({ from: 0, of: ['a', 'b', 'a'] });
    expect(harness.taken).toEqual({ a: [2], b: [1] });
  });

  it('goes on right where the next subscription was parked, across a long stretch that none needs', async () => {
    harness.park('a', 0);
    harness.park('b', 5_000);
    const reading = await passBegins(10_000);
    await reading.answers({ from: 0, of: ['a', 'a', 'a', 'a', 'a'] });
    expect((await harness.reading(2)).from).toBe(5_000);
  });

  it('asks for nothing more once a batch ends at the reader', async () => {
    harness.park('a', 0);
    const reading = await passBegins(2);
    await reading.answers({ from: 0, of: ['b', 'a'] });
    expect([harness.taken, harness.readings.length, harness.openFeeds]).toEqual([{ a: [1] }, 1, 0]);
  });

  it('asks for nothing more once no subscription has room, and another pass continues where each stopped', async () => {
    const backlog = harness.park('a', 0);
    const reading = await passBegins(100);
    await reading.answers({ from: 0, of: ['a', 'a', 'a', 'a', 'b', 'a', 'a'] });
    expect([harness.taken, harness.readings.length, harness.openFeeds]).toEqual([{ a: [0, 1, 2, 3] }, 1, 0]);
    expect(backlog.parkedFrom).toBe(5);
    for (let n = 1; n <= 4; n++) harness.finish(backlog);
    const second = await harness.reading(2);
    expect(second.from).toBe(5);
    await second.answers({ from: 5, of: ['a', 'a'] });
    expect(harness.taken).toEqual({ a: [0, 1, 2, 3, 5, 6] });
  });

  it('counts bytes: it stops within the share of the fleet, and none starts while much of that is used', async () => {
    harness = new PassHarness({ perSubscription: 100, bytes: 10_000 });
    const backlog = harness.park('a', 0);
    const reading = await passBegins(100);
    await reading.answers({ from: 0, of: ['a', 'a', 'a', 'a'] });
    expect([harness.taken, backlog.parkedFrom]).toEqual([{ a: [0, 1] }, 2]);
    harness.finish(backlog);
    await flushed();
    expect(harness.readings).toHaveLength(1);
    harness.finish(backlog);
    expect((await harness.reading(2)).from).toBe(2);
  });

  it('serves no subscription whose earlier deliveries it does not read: they would be left out', async () => {
    const early = harness.park('early', 0);
    for (const offset of [0, 1, 2]) harness.admit(early, offset);
    early.parkedFrom = 3;
    harness.park('late', 5);
    const reading = await passBegins(8);
    expect(reading.from).toBe(5);
    await reading.answers({ from: 5, of: ['late', 'early', 'late'] });
    expect([harness.taken, early.parkedFrom]).toEqual([{ late: [5, 7] }, 3]);
  });

  it('serves a subscription no more that has left deliveries to the log behind it', async () => {
    const backlog = harness.park('a', 0);
    harness.park('b', 0);
    const reading = await passBegins(100);
    await reading.answers({ from: 0, of: ['a', 'a', 'b'] });
    harness.catchUp.leaveOut(backlog);
    harness.backlogs.park(backlog, 1);
    const next = await harness.reading(2);
    await next.answers({ from: 3, of: ['a', 'b'] });
    expect([harness.taken, backlog.parkedFrom]).toEqual([{ a: [0, 1], b: [2, 4] }, 1]);
  });

  it('is not over for a subscription that a predecessor parked ahead of the reader (R-25)', async () => {
    harness.park('a', 0);
    const ahead = harness.park('ahead', 20);
    const reading = await passBegins(2);
    await reading.answers({ from: 0, of: ['a', 'a'] });
    expect([harness.caughtUp, ahead.parkedFrom]).toEqual([1, 20]);
  });

  it('is followed at once by one for a subscription that got room meanwhile', async () => {
    const full = harness.park('full', 0);
    for (const offset of [0, 1, 2, 3]) harness.admit(full, offset);
    full.parkedFrom = 4;
    harness.park('late', 5);
    const reading = await passBegins(7);
    for (let n = 1; n <= 3; n++) harness.finish(full);
    await reading.answers({ from: 5, of: ['late', 'late'] });
    expect((await harness.reading(2)).from).toBe(4);
  });
});

describe('a pass over days of the log, for a few deliveries (R-26)', () => {
  const PASS_MS = 1_000;

  it('gives way after a second to a subscription far beyond it, and goes on where it was', async () => {
    const far = harness.park('far', 0);
    const reading = await passBegins(1_000_000);
    harness.park('near', 999_990);
    harness.atMs += PASS_MS;
    await reading.answers({ from: 0, of: ['other', 'far', 'other'] });
    const second = await harness.reading(2);
    expect([second.from, far.parkedFrom, harness.openFeeds]).toEqual([999_990, 3, 1]);
    const rest = Array.from({ length: 10 }, () => 'near');
    await second.answers({ from: 999_990, of: rest.slice(0, 3) });
    await (
      await harness.reading(3)
    ).answers({ from: 999_993, of: ['other', 'other', 'other', 'other', 'far', 'near', 'x'] });
    expect((await harness.reading(4)).from).toBe(3);
    expect(harness.taken).toEqual({ far: [1], near: [999_990, 999_991, 999_992, 999_998] });
  });

  it('gives way to one that has left its deliveries to the log behind it', async () => {
    harness.park('far', 0);
    const reading = await passBegins(1_000_000);
    const backlog = harness.park('released', 1);
    harness.catchUp.leaveOut(backlog);
    harness.atMs += PASS_MS;
    await reading.answers({ from: 0, of: ['other', 'released', 'other'] });
    expect((await harness.reading(2)).from).toBe(1);
  });

  it('gives way to none that wait for it nearby, or that have no room', async () => {
    harness.park('far', 0);
    const reading = await passBegins(1_000_000);
    harness.park('near', 1_000);
    const full = harness.park('full', 500_000);
    for (const offset of [1, 2, 3, 4]) harness.admit(full, offset);
    harness.atMs += PASS_MS;
    await reading.answers({ from: 0, of: ['other', 'far', 'other'] });
    expect([harness.readings.length, harness.openFeeds]).toEqual([2, 1]);
    expect((await harness.reading(2)).from).toBe(0);
  });

  it('takes turns with them, so that each gets on', async () => {
    const [far, near] = [harness.park('far', 0), harness.park('near', 500_000)];
    harness.backlogs.position = 1_000_000;
    harness.catchUp.kick();
    const starts: number[] = [];
    for (let n = 1; n <= 4; n += 1) {
      const reading = await harness.reading(n);
      starts.push(reading.from);
      harness.atMs += PASS_MS;
      await reading.answers({ from: reading.from, of: ['other', 'other'] });
    }
    expect(starts).toEqual([0, 500_000, 2, 500_002]);
    expect([far.parkedFrom, near.parkedFrom]).toEqual([4, 500_004]);
  });

  it('comes before those beyond it again once a pass over these has ended by itself', async () => {
    harness.park('far', 0);
    const [near, last] = [harness.park('near', 500_000), harness.park('last', 999_990)];
    const reading = await passBegins(1_000_000);
    harness.atMs += PASS_MS;
    await reading.answers({ from: 0, of: ['other', 'other'] });
    await (await harness.reading(2)).answers({ from: 500_000, of: ['near', 'near', 'near', 'near', 'near'] });
    const third = await harness.reading(3);
    for (let n = 1; n <= 4; n++) harness.finish(near);
    await third.answers({ from: third.from, of: ['last', 'last', 'last', 'last', 'last'] });
    expect([near.parkedFrom, third.from, last.parkedFrom]).toEqual([500_004, 999_990, 999_994]);
    expect((await harness.reading(4)).from).toBe(2);
  });

  it('opens the log for none that has no room (decision 0019)', async () => {
    const [full, slow] = [harness.park('full', 5_000), harness.park('slow', 0)];
    for (const offset of [1, 2, 3, 4]) harness.admit(full, offset);
    const reading = await passBegins(10_000);
    await reading.answers({ from: 0, of: ['slow', 'slow', 'slow', 'slow', 'slow'] });
    expect([harness.readings.length, full.parkedFrom, slow.parkedFrom]).toEqual([1, 5_000, 4]);
  });
});

describe('a pass that meets a record that is no delivery (R-2)', () => {
  it('takes nothing before that is in the quarantine, and a successor would read it again', async () => {
    const backlog = harness.park('a', 0);
    harness.quarantine.set(1, () => undefined);
    const reading = await passBegins(100);
    await reading.answers({ from: 0, of: ['a', 'a', 'a'] });
    expect([harness.taken, backlog.parkedFrom]).toEqual([{ a: [0, 1] }, 1]);
    harness.quarantine.get(1)?.();
    await harness.reading(2);
    expect([harness.taken, backlog.parkedFrom]).toEqual([{ a: [0, 1, 2] }, 3]);
  });

  it('does not put it there again when it has to start over before the next record', async () => {
    harness.park('a', 0);
    harness.quarantine.set(1, () => undefined);
    const reading = await passBegins(100);
    await reading.answers({ from: 0, of: ['a', 'a'] });
    harness.quarantine.get(1)?.();
    const second = await harness.reading(2);
    await second.answers(new StreamsError('OFFSET_OUT_OF_RANGE', 'It is gone.'));
    harness.catchUp.kick();
    expect((await harness.reading(3)).from).toBe(2);
  });

  it('does not move on a subscription that leaves deliveries to the log meanwhile', async () => {
    const backlog = harness.park('a', 0);
    harness.quarantine.set(1, () => undefined);
    const reading = await passBegins(3);
    await reading.answers({ from: 0, of: ['a', 'a', 'a'] });
    harness.catchUp.leaveOut(backlog);
    harness.backlogs.park(backlog, 0);
    harness.quarantine.get(1)?.();
    await flushed();
    expect([harness.taken, backlog.parkedFrom]).toEqual([{ a: [0, 1] }, 0]);
  });
});

describe('a pass that ends before its time', () => {
  it('takes in nothing that it gets after the close, or its memory would never be free again (R-26)', async () => {
    harness.park('a', 0);
    const reading = await passBegins(100);
    await harness.catchUp.close();
    await reading.answers({ from: 0, of: ['a'] });
    expect([harness.taken, harness.openFeeds]).toEqual([{}, 0]);
  });

  it('takes in nothing after a record that was being put into the quarantine at the close', async () => {
    harness.park('a', 0);
    harness.quarantine.set(0, () => undefined);
    const reading = await passBegins(100);
    await reading.answers({ from: 0, of: ['a', 'a'] });
    await harness.catchUp.close();
    harness.quarantine.get(0)?.();
    await flushed();
    expect(harness.taken).toEqual({ a: [0] });
  });

  it('opens nothing that would stay open if the close comes while it asks where the log starts', async () => {
    harness.park('a', 0);
    harness.backlogs.position = 100;
    harness.catchUp.kick();
    await harness.catchUp.close();
    await flushed();
    expect([harness.readings, harness.openFeeds]).toEqual([[], 0]);
  });

  it('is followed by none after the close', async () => {
    const backlog = harness.park('a', 0);
    harness.backlogs.position = 100;
    await harness.catchUp.close();
    harness.catchUp.finishedOne(backlog);
    harness.catchUp.kick();
    await flushed();
    expect(harness.readings).toEqual([]);
  });

  it('fails its task with any error but that of a closed feed', async () => {
    harness.park('a', 0);
    const reading = await passBegins(100);
    await reading.answers(new Error('No broker responds.'));
    expect([harness.failures.length, harness.openFeeds]).toEqual([1, 0]);
    harness.catchUp.kick();
    const second = await harness.reading(2);
    await harness.catchUp.close();
    await second.answers(new Error('The feed is closed.'));
    expect([harness.failures.length, harness.openFeeds]).toEqual([1, 0]);
  });

  it('starts again at the new start of the log when retention was faster (R-35)', async () => {
    const backlog = harness.park('a', 0);
    for (const offset of [30, 40])
      harness.backlogs.withdraw(backlog, offset, { progress: DELIVERY_UNSTARTED, due: { epochMs: 0, monotonicMs: 0 } });
    const reading = await passBegins(100);
    harness.logStart = 40;
    await reading.answers(new StreamsError('OFFSET_OUT_OF_RANGE', 'It is gone.'));
    harness.catchUp.kick();
    const second = await harness.reading(2);
    expect([second.from, backlog.parkedFrom, harness.failures]).toEqual([40, 40, []]);
    expect([...backlog.withdrawn.keys()]).toEqual([40]);
  });

  it('is over when a batch that a command skips ends at the reader (R-45)', async () => {
    const backlog = harness.park('a', 0);
    const reading = await passBegins(5);
    harness.leaveOut = 5;
    await reading.answers(new Error('It cannot be decoded.'));
    expect([backlog.parkedFrom, harness.readings.length, harness.openFeeds]).toEqual([null, 1, 0]);
  });
});
