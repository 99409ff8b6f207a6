import { describe, expect, it } from '@jest/globals';
import { buildScheduler, times } from '../testing/scheduler-harness.js';
import type { LaneSettings } from './lane-settings.js';

describe('the slots of DeliveryScheduler (R-26)', () => {
  it('limit a subscription to its own share while others begin at once', () => {
    const { started, enqueue } = buildScheduler({ perSubscription: 2 });
    times(50, () => {
      enqueue('dead');
    });
    enqueue('healthy');
    expect(started).toEqual(['dead', 'dead', 'healthy']);
  });

  it('limit a fleet to its own share, however many subscriptions it has', () => {
    const one = { fleetId: 'flooding' };
    const { started, enqueue } = buildScheduler({ perFleet: 3 }, { a: one, b: one, c: one, d: one });
    for (const id of ['a', 'b', 'c', 'd', 'other']) enqueue(id);
    expect(started).toEqual(['a', 'b', 'c', 'other']);
  });

  it('limit a fleet further while others send too, and only then', () => {
    const one = { fleetId: 'flooding' };
    const flooding = { a: one, b: one, c: one, d: one, e: one };
    const { started, enqueue, endOne, passMs } = buildScheduler({ perFleet: 3, perFleetBesideOthers: 1 }, flooding);
    for (const id of ['a', 'b', 'other', 'c']) enqueue(id);
    expect(started).toEqual(['a', 'b', 'other']);
    endOne('a');
    expect(started).toEqual(['a', 'b', 'other']);
    endOne('b');
    expect(started).toEqual(['a', 'b', 'other', 'c']);
    passMs(1_000);
    for (const id of ['d', 'e']) enqueue(id);
    expect(started.slice(4)).toEqual(['d', 'e']);
  });

  it('begin the deliveries of one subscription in order (R-28)', () => {
    const { started, enqueue, endOne } = buildScheduler({ perSubscription: 1 });
    for (const label of ['first', 'second', 'third']) enqueue('s', label);
    endOne('s');
    endOne('s');
    expect(started).toEqual(['first', 'second', 'third']);
  });

  it('rotate by fleet, then by subscription, when the process is at its limit', () => {
    const flooding = { fleetId: 'flooding' };
    const { started, enqueue, endOne } = buildScheduler({ total: 1 }, { a: flooding, b: flooding });
    times(5, () => {
      enqueue('a');
      enqueue('b');
    });
    enqueue('quiet');
    for (const id of ['a', 'quiet', 'b', 'a']) endOne(id);
    expect(started.slice(0, 2)).toContain('a');
    expect(started.slice(0, 3)).toContain('quiet');
    expect(started.slice(0, 4)).toContain('b');
  });

  it('never exceed the limit of the process, and everything begins in the end', () => {
    const { scheduler, started, enqueue, endOne } = buildScheduler({ perSubscription: 3, total: 4 });
    times(12, (i) => {
      enqueue(`s${String(i % 3)}`);
    });
    let most = 0;
    times(12, (i) => {
      most = Math.max(most, scheduler.inFlight);
      endOne(started[i] ?? '');
    });
    expect(most).toBe(4);
    expect(started).toHaveLength(12);
    expect(scheduler.inFlight).toBe(0);
  });

  it('are free once the status line is there, while the delivery keeps its reservation', () => {
    const { scheduler, started, enqueue, oldestOf } = buildScheduler({ perSubscription: 1 });
    enqueue('s', 'first');
    enqueue('s', 'second');
    oldestOf('s')?.answered();
    expect(started).toEqual(['first', 'second']);
    expect(scheduler.reservations.total).toBe(2);
  });

  it('are free after 25 ms without a status line: a socket that waits costs nothing', () => {
    const { started, enqueue, passMs } = buildScheduler({ perSubscription: 2 });
    times(6, (i) => {
      enqueue('silent', String(i));
    });
    passMs(24);
    expect(started).toEqual(['0', '1']);
    passMs(1);
    expect(started).toEqual(['0', '1', '2', '3']);
    passMs(25);
    expect(started).toEqual(['0', '1', '2', '3', '4', '5']);
  });

  it('are never freed twice by one attempt', () => {
    const { scheduler, enqueue, oldestOf, passMs, endOne } = buildScheduler({});
    enqueue('s');
    oldestOf('s')?.answered();
    passMs(50);
    oldestOf('s')?.answered();
    endOne('s');
    expect(scheduler.inFlight).toBe(0);
  });
});

describe('a retry (R-22)', () => {
  it('starts when it is due although no slot is free', () => {
    const { scheduler, enqueue, oldestOf } = buildScheduler({ perSubscription: 1, perFleet: 1, total: 1 });
    enqueue('failing');
    oldestOf('failing')?.answered();
    enqueue('healthy');
    oldestOf('failing')?.retryStarts(0);
    expect(scheduler.inFlight).toBe(2);
  });

  it('goes before first attempts: these begin when it has freed its slot', () => {
    const { started, enqueue, oldestOf } = buildScheduler({ perSubscription: 1 });
    enqueue('s', 'first');
    oldestOf('s')?.answered();
    oldestOf('s')?.retryStarts(0);
    enqueue('s', 'second');
    expect(started).toEqual(['first']);
    oldestOf('s')?.answered();
    expect(started).toEqual(['first', 'second']);
  });

  it('has a slot and a reservation also when a predecessor began its delivery', () => {
    const { scheduler } = buildScheduler({ reservations: { total: 1 } });
    const resumed = [scheduler.lane('s').resume(), scheduler.lane('s').resume()];
    for (const one of resumed) one.retryStarts(0);
    expect([scheduler.reservations.total, scheduler.inFlight]).toEqual([2, 2]);
    for (const one of resumed) one.end();
    expect([scheduler.reservations.total, scheduler.inFlight]).toEqual([0, 0]);
  });

  it('is not delayed by the rate limit, and takes the place of a first attempt in it', () => {
    const { started, enqueue, oldestOf, passMs } = buildScheduler({}, { paced: { ratePerSecond: 1 } });
    enqueue('paced', 'first');
    enqueue('paced', 'second');
    oldestOf('paced')?.answered();
    oldestOf('paced')?.retryStarts(0);
    passMs(1_999);
    expect(started).toEqual(['first']);
    passMs(1);
    expect(started).toEqual(['first', 'second']);
  });
});

describe('a delivery (R-22)', () => {
  it('does not begin without a reservation for its retries, and begins when one is free', () => {
    const { started, enqueue, oldestOf, endOne } = buildScheduler({ reservations: { perOrigin: 4 } });
    times(5, (i) => {
      enqueue('failing', String(i));
    });
    expect(started).toEqual(['0', '1']);
    oldestOf('failing')?.answered();
    expect(started).toHaveLength(2);
    endOne('failing');
    expect(started).toEqual(['0', '1', '2']);
  });

  it('begins within 50 ms of the moment at which another subscription has made room', () => {
    const shared = { origin: 'https://shared.example.org' };
    const { started, enqueue, endOne, passMs } = buildScheduler(
      { reservations: { perOrigin: 2 } },
      { a: shared, b: shared, c: shared },
    );
    for (const id of ['a', 'b', 'c']) enqueue(id);
    expect(started).toEqual(['a', 'b']);
    endOne('a');
    passMs(50);
    expect(started).toEqual(['a', 'b', 'c']);
  });

  it('waits until the time that the receiver has asked for (Retry-After)', () => {
    const { scheduler, started, enqueue, passMs } = buildScheduler({});
    enqueue('busy', 'first');
    scheduler.lane('busy').beginNoneBefore(11_000);
    enqueue('busy', 'second');
    enqueue('other');
    passMs(9_999);
    expect(started).toEqual(['first', 'other']);
    passMs(1);
    expect(started).toEqual(['first', 'other', 'second']);
  });

  it('waits until then also when nothing of its subscription was left in between', () => {
    const { scheduler, started, enqueue, endOne, passMs } = buildScheduler({});
    enqueue('busy', 'first');
    scheduler.lane('busy').beginNoneBefore(2_000);
    endOne('busy');
    enqueue('busy', 'second');
    passMs(999);
    expect(started).toEqual(['first']);
    passMs(1);
    expect(started).toEqual(['first', 'second']);
  });

  it('counts against the origin that its subscription led to when it began', () => {
    const settings: Record<string, Partial<LaneSettings>> = { moved: { origin: 'https://old.example.org' } };
    const { scheduler, started, enqueue, endOne } = buildScheduler({ reservations: { perOrigin: 1 } }, settings);
    enqueue('moved');
    settings['moved'] = { origin: 'https://new.example.org' };
    endOne('moved');
    settings['next'] = { origin: 'https://old.example.org' };
    enqueue('next');
    expect(started).toEqual(['moved', 'next']);
    expect(scheduler.reservations.total).toBe(1);
  });
});

describe('the rate of a subscription (R-16)', () => {
  it('is kept evenly, and nothing is lost', () => {
    const { started, enqueue, endOne, passMs } = buildScheduler({}, { paced: { ratePerSecond: 4 } });
    times(8, () => {
      enqueue('paced');
    });
    enqueue('other');
    expect(started).toEqual(['paced', 'other']);
    for (let quarter = 1; quarter <= 7; quarter++) {
      endOne('paced');
      passMs(249);
      expect(started.filter((id) => id === 'paced')).toHaveLength(quarter);
      passMs(1);
      expect(started.filter((id) => id === 'paced')).toHaveLength(quarter + 1);
    }
  });

  it('is kept when it does not divide a second', () => {
    const { started, enqueue, endOne, passMs } = buildScheduler({}, { paced: { ratePerSecond: 3 } });
    times(40, () => {
      enqueue('paced');
    });
    for (let ms = 0; ms < 10_000; ms++) {
      endOne('paced');
      passMs(1);
    }
    expect(started.length).toBeGreaterThanOrEqual(29);
    expect(started.length).toBeLessThanOrEqual(31);
  });

  it('is kept also when nothing of it was left in between', () => {
    const { started, enqueue, endOne, passMs } = buildScheduler({}, { paced: { ratePerSecond: 1 } });
    enqueue('paced', 'first');
    endOne('paced');
    enqueue('paced', 'second');
    passMs(999);
    expect(started).toEqual(['first']);
    passMs(1);
    expect(started).toEqual(['first', 'second']);
  });

  it('is followed as soon as it has changed, whatever the lane waits for', () => {
    const settings: Record<string, Partial<LaneSettings>> = { paced: { ratePerSecond: 1 } };
    const { scheduler, started, enqueue, passMs } = buildScheduler({}, settings);
    times(5, (i) => {
      enqueue('paced', String(i));
    });
    settings['paced'] = { ratePerSecond: 10 };
    scheduler.settingsChanged('paced');
    passMs(99);
    expect(started).toEqual(['0']);
    passMs(101);
    expect(started).toEqual(['0', '1', '2']);
    settings['paced'] = { ratePerSecond: null };
    scheduler.settingsChanged('paced');
    expect(started).toEqual(['0', '1', '2', '3', '4']);
  });

  it('does not hold back a probe, also after what waited was held, and counts it (R-29)', () => {
    const { scheduler, started, enqueue, passMs } = buildScheduler({}, { paced: { ratePerSecond: 1 } });
    enqueue('paced', 'first');
    enqueue('paced', 'held');
    scheduler.drain('paced');
    enqueue('paced', 'probe', { isPaced: false });
    expect(started).toEqual(['first', 'probe']);
    enqueue('paced', 'second');
    passMs(1_999);
    expect(started).toEqual(['first', 'probe']);
    passMs(1);
    expect(started).toEqual(['first', 'probe', 'second']);
  });

  it('is not used up by void deliveries', () => {
    const { started, enqueue, endOne, passMs } = buildScheduler({}, { paced: { ratePerSecond: 1 } });
    enqueue('paced', 'first');
    times(500, () => {
      enqueue('paced', 'void', { isVoid: true });
    });
    enqueue('paced', 'second');
    enqueue('other');
    endOne('paced');
    passMs(1_000);
    expect(started).toEqual(['first', 'other', 'second']);
  });
});

describe('a lane', () => {
  it('returns waiting deliveries, so that they can be held', () => {
    const { scheduler, started, enqueue } = buildScheduler({ perSubscription: 1 });
    for (const label of ['first', 'second', 'third']) enqueue('s', label);
    expect(scheduler.drain('s')).toHaveLength(2);
    expect(scheduler.drain('s')).toEqual([]);
    expect(started).toEqual(['first']);
  });
});
