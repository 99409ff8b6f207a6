import { describe, expect, it } from '@jest/globals';
import {
  type NewestOperations,
  type SubscriptionActivity,
  subscriptionHealth,
  type Suspension,
  suspensionOf,
} from './health-summary.js';

const NOT_SUSPENDED: Suspension = { isSuspended: false, since: null };

function activityOf(given: Partial<SubscriptionActivity>): SubscriptionActivity {
  return { lastSuccessAt: null, unacceptedSince: null, pending: 0, oldestPendingAt: null, ...given };
}

describe('the health of a subscription (R-16)', () => {
  it.each<[string, Partial<SubscriptionActivity>, Suspension, string]>([
    ['unknown when nothing was attempted', {}, NOT_SUSPENDED, 'unknown'],
    ['healthy when the newest delivery was accepted', { lastSuccessAt: 5 }, NOT_SUSPENDED, 'healthy'],
    ['failing when nothing since was accepted', { lastSuccessAt: 5, unacceptedSince: 6 }, NOT_SUSPENDED, 'failing'],
    ['failing when nothing ever was', { unacceptedSince: 6 }, NOT_SUSPENDED, 'failing'],
    ['suspended while deliveries are held', { unacceptedSince: 6 }, { isSuspended: true, since: 9 }, 'suspended'],
    ['suspended when no attempt is known any more', {}, { isSuspended: true, since: null }, 'suspended'],
  ])('is %s', (_what, activity, suspension, status) =>
    expect(subscriptionHealth(activityOf(activity), suspension).status).toBe(status),
  );

  it('says since when, and what is left to do', () => {
    const activity = { lastSuccessAt: 5, unacceptedSince: 6, pending: 2, oldestPendingAt: 4 };
    expect(subscriptionHealth(activity, { isSuspended: true, since: 9 })).toEqual({
      status: 'suspended',
      failingSince: 6,
      suspendedSince: 9,
      lastSuccessAt: 5,
      pending: 2,
      oldestPendingAt: 4,
    });
    expect(subscriptionHealth(activity, NOT_SUSPENDED)).toMatchObject({ failingSince: 6, suspendedSince: null });
  });
});

describe('a suspension, by its operational events (R-29)', () => {
  it.each<[string, Partial<NewestOperations>, Suspension]>([
    ['there is none without an event', {}, NOT_SUSPENDED],
    ['begins with its event', { suspended: 5 }, { isSuspended: true, since: 5 }],
    ['goes on while probes fail', { suspended: 5, probed: 8 }, { isSuspended: true, since: 5 }],
    ['ends when it is resumed', { suspended: 5, probed: 8, resumed: 9 }, NOT_SUSPENDED],
    ['may be another one later', { suspended: 12, probed: 8, resumed: 9 }, { isSuspended: true, since: 12 }],
    ['is known by its probes when its begin is forgotten', { probed: 8 }, { isSuspended: true, since: null }],
    [
      'of which only later probes are known',
      { suspended: 3, probed: 8, resumed: 5 },
      { isSuspended: true, since: null },
    ],
    ['is over at the moment of its end', { suspended: 5, resumed: 5 }, NOT_SUSPENDED],
  ])('%s', (_what, newest, expected) =>
    expect(suspensionOf({ suspended: null, probed: null, resumed: null, ...newest })).toEqual(expected),
  );
});
