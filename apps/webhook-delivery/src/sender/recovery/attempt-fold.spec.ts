import { describe, expect, it } from '@jest/globals';
import type { SubscriptionState, WebhookAttempt } from '@waypost/domain';
import { anAttempt } from '../testing/sender-samples.js';
import { AttemptFold, type FoldedAttempts } from './attempt-fold.js';

const ID = 'subscription-1';
const ACCEPTED = { outcome: 'delivered', decision: 'accepted', statusCode: 200, nextDueAt: null } as const;

function state(fields: Partial<SubscriptionState> = {}): SubscriptionState {
  const nothing = { parkedFrom: null, foldFrom: null, failingSince: null, suspendedAt: null, failedDays: [] };
  return { subscriptionId: ID, ...nothing, known: null, updatedAt: 0, ...fields };
}

/** Of deliveries 0 to 99, where 10 is the committed position. */
function fold(attempts: readonly Partial<WebhookAttempt>[], stateOfIt?: SubscriptionState): FoldedAttempts {
  const states = new Map(stateOfIt ? [[ID, stateOfIt]] : []);
  const folded = new AttemptFold({ startOffset: 10, deliveriesEnd: 100, states });
  for (const fields of attempts) folded.add(anAttempt(1, fields));
  return folded.result();
}

describe('the attempts that a new sender folds (R-25)', () => {
  it('give the progress of each delivery from the position on', () => {
    const { byDelivery } = fold([
      { deliveryOffset: 9 },
      { deliveryOffset: 10, attempt: 1 },
      { deliveryOffset: 10, attempt: 2, nextDueAt: 9_000 },
      { deliveryOffset: 11, ...ACCEPTED },
    ]);
    expect([...byDelivery.keys()]).toEqual([10, 11]);
    expect(byDelivery.get(10)).toMatchObject({ type: 'pending', nextAttempt: 3, dueAt: 9_000 });
    expect(byDelivery.get(11)).toEqual({ type: 'finished' });
  });

  it('continue the progress that the state of a subscription knows', () => {
    const attempted = { nextAttempt: 2, probes: 0, dueAt: 1, firstAttemptAt: 1, unauthorizedBefore: false };
    const unfinished = [
      { offset: 3, attempted },
      { offset: 4, attempted: null },
    ];
    const known = { foldFrom: 0, upTo: 4, unfinished };
    const { byDelivery } = fold([{ deliveryOffset: 3, attempt: 2 }], state({ parkedFrom: 3, known }));
    expect(byDelivery.get(3)).toMatchObject({ type: 'pending', nextAttempt: 3 });
    expect(byDelivery.get(4)).toEqual({ type: 'unstarted' });
  });

  it('do not count beyond the end of the deliveries', () => {
    const { byDelivery, lastDelivery, begunUpTo } = fold([{ deliveryOffset: 100 }]);
    expect([byDelivery.size, lastDelivery, begunUpTo.size]).toEqual([0, -1, 0]);
  });

  it('say up to which delivery a subscription has begun', () => {
    const { begunUpTo } = fold([{ deliveryOffset: 14 }, { deliveryOffset: 12 }]);
    expect(begunUpTo).toEqual(new Map([[ID, 14]]));
  });

  it.each([
    ['before the position, without a state', 9, undefined, -1],
    ['before the position, in a parked backlog', 9, 8, 9],
    ['from the position on', 12, undefined, 12],
    // After the hold, only the attempt shows that the delivery is finished.
    ['from the position on, finished by the state', 12, 20, 12],
  ])('say which delivery was begun last: %s', (_where, deliveryOffset, parkedFrom, lastDelivery) => {
    const folded = fold([{ deliveryOffset }], parkedFrom === undefined ? undefined : state({ parkedFrom }));
    expect(folded.lastDelivery).toBe(lastDelivery);
  });

  it('leave out of the progress what the state of its subscription has finished', () => {
    const { byDelivery, begunUpTo } = fold([{ deliveryOffset: 12 }], state({ parkedFrom: 20 }));
    expect([byDelivery.size, begunUpTo.size]).toEqual([0, 0]);
  });

  it('give the last probe, and the latest Retry-After, whatever delivery had it (R-22, R-29)', () => {
    const { waits } = fold([
      { deliveryOffset: 1, probe: true, probes: 1, startedAt: 5_000 },
      { deliveryOffset: 2, startedAt: 6_000, durationMs: 10, retryAfterMs: 9_000 },
      { deliveryOffset: 2, startedAt: 7_000, durationMs: 10, retryAfterMs: 1_000 },
      { deliveryOffset: 3, startedAt: 8_000 },
    ]);
    expect(waits).toEqual(new Map([[ID, { probedAt: 5_000, notBefore: 15_010 }]]));
  });

  it('give the acceptance that ended an outage, unless a failure logged later began it (R-29)', () => {
    const accepted = { ...ACCEPTED, startedAt: 5_000, durationMs: 10 };
    const outage = state({ failingSince: 1_000, suspendedAt: 4_000 });
    const idsOf = ({ accepted }: FoldedAttempts) => [...accepted.keys()];
    expect(idsOf(fold([accepted], outage))).toEqual([ID]);
    expect(idsOf(fold([accepted]))).toEqual([]);
    expect(idsOf(fold([{ ...accepted, startedAt: 3_000 }], outage))).toEqual([]);
    expect(idsOf(fold([accepted, { startedAt: 3_000 }], outage))).toEqual([]);
    expect(idsOf(fold([accepted, { startedAt: 6_000 }], outage))).toEqual([ID]);
  });
});
