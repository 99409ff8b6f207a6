import { describe, expect, it } from '@jest/globals';
import { DELIVERY_UNSTARTED, type WebhookDelivery } from '@waypost/domain';
import type { Moment } from '../../process/clocks.js';
import { pastDueWork } from './past-due-work.js';
import { type PendingDelivery, SubscriptionBacklog } from './subscription-backlog.js';

const NOW = 50_000;
const begun = { retryStarts: () => undefined, answered: () => undefined, end: () => undefined };
const nothing = {
  isSending: () => false,
  waitsForTime: () => false,
  isStrict: () => false,
  atMs: NOW,
};

/** By the monotonic clock; the epoch clock says nothing of it. */
function at(monotonicMs: number): Moment {
  return { epochMs: -1, monotonicMs };
}

function backlogOf(...wishes: readonly Partial<PendingDelivery>[]): SubscriptionBacklog {
  const backlog = new SubscriptionBacklog('subscription-1');
  for (const [offset, wish] of wishes.entries()) {
    const delivery = {} as WebhookDelivery;
    const pending: PendingDelivery = {
      ...{
        backlog,
        offset,
        appendedAt: 0,
        delivery,
        traceparent: null,
        tracestate: null,
        progress: DELIVERY_UNSTARTED,
        due: at(20_000),
      },
      isHeld: false,
      begun: null,
      ...wish,
    };
    backlog.unfinished.set(offset, { pending, foldFrom: 0, sinceMs: 0 });
  }
  return backlog;
}

describe('work that is past due', () => {
  it('is a retry after its time, and a delivery that waits for room since it was read (R-22)', () => {
    const backlog = backlogOf({ begun, due: at(10_000) }, { begun, due: at(40_000) }, {}, { due: at(30_000) });
    expect([...pastDueWork([backlog], nothing)]).toEqual([
      {
        subscriptionId: 'subscription-1',
        first: { count: 2, sinceMs: 20_000 },
        retry: { count: 2, sinceMs: 10_000 },
      },
    ]);
  });

  it('is not a retry whose time has not come, however old its event is (R-22)', () => {
    expect([...pastDueWork([backlogOf({ begun, due: at(NOW + 1) })], nothing)]).toEqual([]);
  });

  it('is not an attempt that is being made', () => {
    expect([...pastDueWork([backlogOf({ begun })], { ...nothing, isSending: () => true })]).toEqual([]);
  });

  it('is not what is held, by its owner or by an outage (R-16, R-29)', () => {
    const paused = backlogOf({});
    paused.isPaused = true;
    const suspended = backlogOf({});
    suspended.health = { ...suspended.health, suspendedAt: 1 };
    expect([...pastDueWork([paused, suspended, backlogOf({ isHeld: true })], nothing)]).toEqual([]);
  });

  it.each([
    ['its rate or a Retry-After keeps back (R-22)', { waitsForTime: () => true }],
    ['waits for an earlier event of its device (R-28)', { isStrict: () => true }],
  ])('is not a first attempt that %s; a retry is', (_, wishes) => {
    const [found] = pastDueWork([backlogOf({}, { begun })], { ...nothing, ...wishes });
    expect(found).toMatchObject({ first: { count: 0 }, retry: { count: 1 } });
  });
});
