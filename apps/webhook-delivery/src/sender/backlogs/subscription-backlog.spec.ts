import { describe, expect, it } from '@jest/globals';
import { DELIVERY_UNSTARTED, HEALTHY } from '@waypost/domain';
import { aDelivery } from '../testing/sender-samples.js';
import { type PendingDelivery, SubscriptionBacklog } from './subscription-backlog.js';

const NOW = { epochMs: 10_000, monotonicMs: 500 };

function admit(backlog: SubscriptionBacklog, offset: number, isHeld = false): PendingDelivery {
  const pending: PendingDelivery = {
    ...{ backlog, offset, appendedAt: 0, delivery: aDelivery(offset), due: NOW, begun: null },
    ...{ progress: DELIVERY_UNSTARTED, traceparent: null, tracestate: null, isHeld },
  };
  backlog.unfinished.set(offset, { pending, foldFrom: 0, sinceMs: 0 });
  return pending;
}

describe('the backlog of a subscription', () => {
  it('is probed with the oldest of the deliveries that are held, not with one that is under way (R-29)', () => {
    const backlog = new SubscriptionBacklog('a');
    admit(backlog, 1);
    expect(backlog.nextProbe()).toBeUndefined();
    const held = admit(backlog, 2, true);
    admit(backlog, 3, true);
    expect(backlog.nextProbe()).toBe(held);
  });

  it('begins with its oldest unfinished delivery, in memory or in the log', () => {
    const backlog = new SubscriptionBacklog('a');
    expect([backlog.lowest(), backlog.first()]).toEqual([null, null]);
    backlog.parkedFrom = 7;
    expect([backlog.lowest(), backlog.first()]).toEqual([7, null]);
    const first = admit(backlog, 4);
    admit(backlog, 6);
    expect([backlog.lowest(), backlog.first()]).toEqual([4, first]);
  });

  it('has what came due during a hold due at its end, and the rest in its own time (R-16)', () => {
    const backlog = new SubscriptionBacklog('a');
    const at = (monotonicMs: number) => ({ epochMs: 0, monotonicMs });
    expect(backlog.dueAfterHold(at(400))).toEqual(at(400));
    backlog.releasedAt = NOW;
    expect([400, 600].map((ms) => backlog.dueAfterHold(at(ms)))).toEqual([NOW, at(600)]);
  });

  it.each<[string, (backlog: SubscriptionBacklog) => unknown]>([
    ['it has a delivery', (backlog) => admit(backlog, 1)],
    ['it has one in the log', (backlog) => (backlog.parkedFrom = 1)],
    [
      'it knows how far one in the log is',
      (backlog) => backlog.withdrawn.set(1, { progress: DELIVERY_UNSTARTED, due: NOW }),
    ],
    ['its state record is looked after', (backlog) => (backlog.isRemembered = true)],
    ['a successor would begin by its state record', (backlog) => (backlog.placement = 'detached')],
    ['its endpoint fails', (backlog) => (backlog.health = { ...HEALTHY, failingSince: 1 })],
    ['it is suspended', (backlog) => (backlog.health = { ...HEALTHY, suspendedAt: 1 })],
  ])('is not forgotten while %s', (_, change) => {
    const backlog = new SubscriptionBacklog('a');
    expect(backlog.isForgettable).toBe(true);
    change(backlog);
    expect(backlog.isForgettable).toBe(false);
  });
});
