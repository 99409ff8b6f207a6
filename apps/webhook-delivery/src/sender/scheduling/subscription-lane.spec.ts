import { describe, expect, it } from '@jest/globals';
import { Headroom } from '../../process/headroom.js';
import { ManualClock } from '../testing/manual-clock.js';
import { DeliveryScheduler } from './delivery-scheduler.js';
import type { BegunDelivery } from './lane.js';

/** Fewer than begin in one turn of the event loop. */
const LANES = 30;
const RETRY_AFTER_MS = 15_000;

function build({
  ratePerSecond = null as number | null,
  fleetOf = (id: string) => `fleet of ${id}`,
  rateOf = (_id: string) => ratePerSecond,
  total = 1_000,
  slots = 1_000,
  perSubscription = 1_000,
} = {}) {
  const clock = new ManualClock();
  const { monotonicMs } = clock;
  const scheduler = new DeliveryScheduler({
    slots: {
      perSubscription: Math.min(perSubscription, slots),
      perFleet: slots,
      perFleetBesideOthers: slots,
      total: slots,
    },
    reservations: { total, perOrigin: 1_000 },
    settings: (id) => ({ fleetId: fleetOf(id), origin: id, ratePerSecond: rateOf(id), heedsRetryAfter: true }),
    timers: clock,
    monotonicMs,
    headroom: new Headroom(monotonicMs),
  });
  const ids = Array.from({ length: LANES }, (_, n) => `subscription-${String(n)}`);
  const begun: BegunDelivery[] = [];
  const enqueue = (id: string, isVoid = (): boolean => false): void => {
    scheduler.lane(id).enqueue({
      get isVoid() {
        return isVoid();
      },
      isPaced: true,
      mayBegin: () => true,
      begin: (delivery) => void begun.push(delivery),
    });
  };
  const endAll = (): void => {
    for (const delivery of begun.splice(0)) delivery.end();
  };
  return { scheduler, clock, ids, enqueue, endAll, begun };
}

describe('the lane of a subscription of which nothing is left', () => {
  it('is forgotten when its last delivery ends', () => {
    const { scheduler, ids, enqueue, endAll } = build();
    for (const id of ids) enqueue(id);
    expect(scheduler.size).toBe(LANES);
    endAll();
    expect(scheduler.size).toBe(0);
  });

  it('is forgotten when its rate has nothing left to hold back, and not before (R-16)', () => {
    const { scheduler, clock, ids, enqueue, endAll } = build({ ratePerSecond: 1 });
    for (const id of ids) enqueue(id);
    endAll();
    clock.passMs(999);
    expect(scheduler.size).toBe(LANES);
    clock.passMs(1);
    expect(scheduler.size).toBe(0);
  });

  it('is forgotten when a Retry-After is over, though none of its deliveries came back (R-22)', () => {
    const { scheduler, clock, ids } = build();
    for (const id of ids) scheduler.lane(id).beginNoneBefore(RETRY_AFTER_MS);
    clock.passMs(RETRY_AFTER_MS - 1);
    expect(scheduler.size).toBe(LANES);
    clock.passMs(1);
    expect(scheduler.size).toBe(0);
  });

  it('is forgotten also when what waited was held or is not needed any more', () => {
    const { scheduler, clock, ids, enqueue, endAll } = build({ ratePerSecond: 1 });
    let isStopped = false;
    for (const id of ids) {
      enqueue(id);
      enqueue(id, () => isStopped);
    }
    endAll();
    for (const id of ids.slice(LANES / 2)) expect(scheduler.drain(id)).toHaveLength(1);
    isStopped = true;
    clock.passMs(1_000);
    expect(scheduler.size).toBe(0);
  });

  it('stays while something of it waits or has begun', () => {
    const { scheduler, clock, ids, enqueue, endAll } = build({ ratePerSecond: 1 });
    for (const id of ids) enqueue(id);
    endAll();
    clock.passMs(500);
    for (const id of ids) enqueue(id);
    clock.passMs(60_000);
    expect(scheduler.size).toBe(LANES);
    endAll();
    clock.passMs(1_000);
    expect(scheduler.size).toBe(0);
  });
});

describe('a lane that is forgotten', () => {
  it('is so although its rate went on holding back after the first look', () => {
    const { scheduler, clock, enqueue, endAll } = build({ ratePerSecond: 1 });
    enqueue('a');
    endAll();
    clock.passMs(500);
    enqueue('a');
    clock.passMs(500);
    endAll();
    clock.passMs(1_000);
    expect(scheduler.size).toBe(0);
  });

  it('is so when what it had beyond its share was held', () => {
    const { scheduler, clock, enqueue, endAll } = build({ fleetOf: () => 'fleet', total: 9 });
    for (let n = 0; n < 10; n++) enqueue(`subscription-${String(n)}`);
    for (let n = 0; n < 10; n++) scheduler.drain(`subscription-${String(n)}`);
    endAll();
    clock.passMs(1_000);
    expect(scheduler.size).toBe(0);
  });

  it('takes nothing with it of one that its subscription got since', () => {
    let ratePerSecond: number | null = 1;
    const { scheduler, clock, enqueue, endAll } = build({ rateOf: () => ratePerSecond });
    enqueue('a');
    endAll();
    ratePerSecond = null;
    enqueue('a');
    endAll();
    expect(scheduler.size).toBe(0);
    enqueue('a');
    clock.passMs(1_000);
    expect(scheduler.size).toBe(1);
    endAll();
    expect(scheduler.size).toBe(0);
  });
});

describe('the subscriptions of a fleet that has many more than reservations (R-26)', () => {
  it('each get one in their turn, however many turns there were before', () => {
    const { clock, begun, scheduler } = build({ fleetOf: () => 'fleet', total: 30, slots: 2 });
    const turns: string[] = [];
    const wait = (id: string): void =>
      scheduler.lane(id).enqueue({
        isVoid: false,
        isPaced: true,
        mayBegin: () => true,
        begin: (delivery) => {
          turns.push(id);
          begun.push(delivery);
          wait(id);
        },
      });
    for (let n = 0; n < 40; n++) wait(String(n));
    for (let round = 0; round < 400; round++) {
      // More end at once than there are slots for those that follow.
      for (const delivery of begun.splice(0, 5)) delivery.end();
      clock.passMs(5_000);
    }
    expect(new Set(turns.slice(-500)).size).toBe(40);
  });
});

describe('a subscription whose retry has taken its last slot (R-26)', () => {
  it('begins nothing more until it has responded, though it was ready and the process has slots again', () => {
    const { enqueue, begun } = build({ slots: 2, perSubscription: 1 });
    enqueue('a');
    const [first] = begun;
    first?.answered();
    for (const id of ['b', 'c', 'a']) enqueue(id);
    expect(begun).toHaveLength(3);
    first?.retryStarts(0);
    for (const other of begun.slice(1)) other.answered();
    expect(begun).toHaveLength(3);
    first?.answered();
    expect(begun).toHaveLength(4);
  });
});

describe('a fleet of which something has begun (R-26)', () => {
  it('keeps to its share when one of its subscriptions is forgotten', () => {
    const { scheduler, clock, ids, enqueue, begun } = build({ fleetOf: () => 'fleet', total: 300 });
    for (const id of ids) enqueue(id);
    begun.pop()?.end();
    expect(scheduler.size).toBe(LANES - 1);
    for (let n = 0; n < 200; n++) enqueue(`later ${String(n)}`);
    clock.passMs(10);
    expect(scheduler.reservations.total).toBe(100);
  });
});

describe('a fleet of which nothing was left for a while (R-26)', () => {
  it('has no larger share after the wait of one of its subscriptions is over', () => {
    const rateOf = (id: string): number | null => (id === 'paced' ? 1 : null);
    const { clock, enqueue, endAll, begun } = build({ fleetOf: () => 'fleet', rateOf });
    for (const id of ['paced', 'other']) enqueue(id);
    endAll();
    const flood = (name: string): number => {
      for (let n = 0; n < 1_000; n++) enqueue(`${name}-${String(n)}`);
      clock.passMs(50);
      return begun.length;
    };
    const share = flood('a');
    expect(share).toBeLessThan(500);
    clock.passMs(950);
    expect(flood('b')).toBe(share);
  });
});
