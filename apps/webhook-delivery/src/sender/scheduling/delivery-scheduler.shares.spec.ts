import { describe, expect, it } from '@jest/globals';
import { Headroom } from '../../process/headroom.js';
import { DEFAULT_SENDER_SETTINGS } from '../sender-settings.js';
import { ManualClock } from '../testing/manual-clock.js';
import { DeliveryScheduler } from './delivery-scheduler.js';

const { slots, reservations } = DEFAULT_SENDER_SETTINGS;
/** Five attempts of 5 s, and the waits between them. */
const SHORTEST_MS = 48_000;
const LONGEST_MS = 60_000;
const ANSWER_MS = 5;
const RATE_PER_SECOND = 100;
const STEP_MS = 50;

interface Sender {
  readonly id: string;
  readonly fleetId: string;
  readonly origin?: string;
  readonly isDead: boolean;
  readonly ratePerSecond?: number;
}

/** Subscriptions that always have something waiting: dead ones hold what they begin, the others answer in 5 ms. */
function simulate(senders: readonly Sender[]) {
  const clock = new ManualClock();
  const { monotonicMs } = clock;
  const byId = new Map(senders.map((sender) => [sender.id, sender]));
  const scheduler = new DeliveryScheduler({
    slots,
    reservations,
    settings: (id) => {
      const { fleetId = '', origin = id, ratePerSecond = null } = byId.get(id) ?? {};
      return { fleetId, origin, ratePerSecond, heedsRetryAfter: true };
    },
    timers: clock,
    monotonicMs,
    headroom: new Headroom(monotonicMs),
  });
  const begun = new Map<string, number>();
  let deaths = 0;
  const dying = new Map<number, (() => void)[]>();
  const endLater = (end: () => void): void => {
    const endMs = clock.atMs + SHORTEST_MS + ((deaths++ * 0.618) % 1) * (LONGEST_MS - SHORTEST_MS);
    const step = Math.ceil(endMs / STEP_MS);
    dying.set(step, [...(dying.get(step) ?? []), end]);
  };
  const enqueue = (sender: Sender): void => {
    scheduler.lane(sender.id).enqueue({
      isVoid: false,
      isPaced: true,
      mayBegin: () => true,
      begin: (delivery) => {
        begun.set(sender.id, (begun.get(sender.id) ?? 0) + 1);
        enqueue(sender);
        const end = (): void => delivery.end();
        if (sender.isDead) endLater(end);
        else clock.after(ANSWER_MS, end);
      },
    });
  };
  const passMs = (ms: number): void => {
    for (const endMs = clock.atMs + ms; clock.atMs < endMs;) {
      for (const end of dying.get(clock.atMs / STEP_MS) ?? []) end();
      clock.passMs(STEP_MS);
    }
  };
  const begunBy = (id: string): number => begun.get(id) ?? 0;
  return { scheduler, passMs, begunBy, begin: () => senders.forEach(enqueue) };
}

function deadOf(fleetId: string, count: number, origin?: string): Sender[] {
  const at = origin === undefined ? {} : { origin };
  return Array.from({ length: count }, (_, i) => ({ id: `${fleetId} ${String(i)}`, fleetId, isDead: true, ...at }));
}

describe('shares of reservations (R-26)', () => {
  it('leave a healthy fleet what it needs beside a fleet of 5,000 subscriptions that never answer', () => {
    const { scheduler, passMs, begunBy, begin } = simulate([
      ...deadOf('dead', 5_000),
      { id: 'healthy', fleetId: 'healthy', isDead: false, ratePerSecond: RATE_PER_SECOND },
    ]);
    begin();
    passMs(20_000);
    const before = begunBy('healthy');
    passMs(60_000);
    expect(begunBy('healthy') - before).toBeGreaterThan(59 * RATE_PER_SECOND);
    expect(scheduler.reservations.total).toBeLessThan(reservations.total / 2);
  });

  it('leave it what it needs at the same host, too', () => {
    const origin = 'https://shared.example.org';
    const { passMs, begunBy, begin } = simulate([
      ...deadOf('dead', 5_000, origin),
      { id: 'healthy', fleetId: 'healthy', isDead: false, ratePerSecond: RATE_PER_SECOND, origin },
    ]);
    begin();
    passMs(20_000);
    const before = begunBy('healthy');
    passMs(60_000);
    expect(begunBy('healthy') - before).toBeGreaterThan(59 * RATE_PER_SECOND);
  });

  it('come round to every subscription of a fleet that has more of them than it may have reservations', () => {
    const senders = deadOf('dead', 5_000);
    const { passMs, begunBy, begin } = simulate(senders);
    begin();
    passMs(5 * LONGEST_MS);
    expect(senders.filter(({ id }) => begunBy(id) > 0)).toHaveLength(5_000);
  });

  it('are equal in time: one that answers among 5,000 that do not has its turn, and uses it', () => {
    const { passMs, begunBy, begin } = simulate([
      ...deadOf('fleet', 5_000),
      { id: 'answers', fleetId: 'fleet', isDead: false },
    ]);
    begin();
    passMs(5 * LONGEST_MS);
    expect(begunBy('answers')).toBeGreaterThan(1_000);
  });
});
