import { describe, expect, it } from '@jest/globals';
import { HEALTHY, type WebhookDelivery } from '@waypost/domain';
import { oldestDeliveries } from './oldest-deliveries.js';
import { type PendingDelivery, SubscriptionBacklog } from './subscription-backlog.js';

const all = { createdBefore: Infinity, wasPaused: () => false };

function backlogOf(...created: readonly number[]): SubscriptionBacklog {
  const backlog = new SubscriptionBacklog('subscription-1');
  for (const [offset, createdAt] of created.entries()) {
    const delivery = { subscriptionId: 'subscription-1', fleetId: 'fleet-1', createdAt } as WebhookDelivery;
    backlog.unfinished.set(offset, { pending: { delivery } as PendingDelivery, foldFrom: 0, sinceMs: 0 });
  }
  return backlog;
}

describe('the oldest delivery of a subscription', () => {
  it('is the first in memory: what waits in the log is younger', () => {
    const backlog = backlogOf(10_000, 20_000);
    backlog.parkedFrom = 2;
    const oldest = { subscriptionId: 'subscription-1', fleetId: 'fleet-1', createdAt: 10_000 };
    expect([...oldestDeliveries([backlogOf(), backlog], all)]).toEqual([oldest]);
  });

  it('is left out where it is young', () => {
    const backlogs = [backlogOf(10_000), backlogOf(9_999)];
    expect([...oldestDeliveries(backlogs, { ...all, createdBefore: 10_000 })]).toMatchObject([{ createdAt: 9_999 }]);
  });

  it('is reported for suspended (R-29) and unreadable subscriptions, but not for those that their owners have paused (R-16)', () => {
    const [suspended, unreadable] = [backlogOf(10_000), backlogOf(20_000)];
    suspended.health = { ...HEALTHY, suspendedAt: 1 };
    unreadable.isPaused = true;
    expect([...oldestDeliveries([suspended, unreadable], all)]).toHaveLength(2);
    expect([...oldestDeliveries([suspended], { ...all, wasPaused: (id) => id === 'subscription-1' })]).toEqual([]);
  });
});
