import { describe, expect, it } from '@jest/globals';
import { eventOf, NOON, subscriptionOf } from '../../../../test/support/samples.js';
import { createDeliveryLedger } from './delivery-ledger.js';
import { describeDeliveries } from './verify-report.js';

describe('Events followed to their deliveries', () => {
  const subscription = subscriptionOf();
  const publishedAt = NOON - 5_001;
  const event = eventOf();

  function ledgerWith(appendedAt = NOON) {
    const ledger = createDeliveryLedger([
      { subscription, publishedAt },
      { subscription: subscriptionOf({ id: 'other', eventType: 'ignition_on' }), publishedAt },
    ]);
    ledger.event(event, appendedAt);
    return ledger;
  }
  // The id is the one of R-12; the table of docs/reference/event-ids.md holds it against vectors elsewhere.
  const ids: string[] = [];
  const delivery = (series = 0) => ({
    eventId: ids[0] ?? '',
    series,
    subscriptionId: subscription.id,
    createdAt: NOON,
  });

  it('are missing a delivery of a subscription that last changed well before the event', () => {
    expect(ledgerWith().findings()).toMatchObject({ expected: 1, found: 0, missing: [expect.any(String)] });
  });

  it('require nothing for a subscription changed later, since its earlier state is unknown', () => {
    const unjudged = [{ subscriptionId: subscription.id, because: 'changed', found: 0 }];
    expect(ledgerWith(NOON - 6_000).findings()).toMatchObject({ expected: 0, missing: [], unjudged });
  });

  it('name what cannot be judged: deliveries of a subscription that was changed later, and of one that is gone', async () => {
    const { decideFanOut } = await import('@waypost/domain');
    const eventId = [...decideFanOut(event, [subscription], NOON)][0]?.eventId ?? '';
    const ledger = createDeliveryLedger([{ subscription, publishedAt: NOON }], NOON + 1_000);
    ledger.event(event, NOON);
    ledger.delivery({ ...delivery(), eventId });
    const gone = { ...delivery(), subscriptionId: 'gone' };
    ledger.delivery({ ...gone, eventId: 'a' });
    ledger.delivery({ ...gone, eventId: 'b', createdAt: NOON + 999 });
    ledger.delivery({ ...gone, eventId: 'after the range', createdAt: NOON + 1_000 });
    const findings = ledger.findings();
    expect(findings).toMatchObject({ expected: 0, found: 0, missing: [] });
    expect(describeDeliveries(findings)).toEqual([
      'deliveries: 0 expected, 0 found; 0 delivered, 0 failed, 0 pending',
      `  cannot be judged: 3 (1 of subscription ${subscription.id}, which has changed since; 2 of subscription gone, which was deleted)`,
    ]);
  });

  it('require nothing for a change published together with the event: fan-out may not have seen it', () => {
    const ledger = createDeliveryLedger([{ subscription: subscriptionOf({ updatedAt: 0 }), publishedAt: NOON - 1 }]);
    ledger.event(event, NOON);
    const unjudged = [{ subscriptionId: subscription.id, because: 'changed', found: 0 }];
    expect(ledger.findings()).toMatchObject({ expected: 0, missing: [], unjudged });
  });

  describe('when the oldest records are gone', () => {
    const since = (keptSince: number) => (id: string) => (id === subscription.id ? keptSince : -Infinity);
    const whole = since(-Infinity);

    it('are not missing a delivery that has left its log', () => {
      const [before, within] = [since(NOON - 5_000), since(NOON - 5_001)];
      const findings = ledgerWith().findings({ deliveries: before, attempts: whole });
      expect(findings).toMatchObject({ expected: 0, found: 0, missing: [], beforeDeliveries: 1 });
      expect(describeDeliveries(findings).at(-1)).toBe(
        '  cannot be judged: 1 (1 that may have left webhook.deliveries)',
      );
      expect(ledgerWith().findings({ deliveries: within, attempts: whole })).toMatchObject({
        expected: 1,
        missing: [expect.any(String)],
        beforeDeliveries: 0,
      });
    });

    it('are not pending for want of attempts that have left their log', async () => {
      const { decideFanOut } = await import('@waypost/domain');
      ids[0] = [...decideFanOut(event, [subscription], NOON)][0]?.eventId ?? '';
      const ledger = ledgerWith();
      ledger.delivery(delivery());
      const findings = ledger.findings({ deliveries: since(NOON), attempts: since(NOON) });
      expect(findings).toMatchObject({ expected: 0, found: 0, missing: [], pending: 0, beforeAttempts: 1 });
      expect(describeDeliveries(findings).at(-1)).toBe(
        '  cannot be judged: 1 (1 whose attempts may have left webhook.attempts)',
      );
      ledger.delivery(delivery());
      expect(ledger.findings({ deliveries: whole, attempts: since(NOON) }).repeated).toEqual([ids[0]]);
      ledger.attempt({ ...delivery(), outcome: 'retrying' });
      expect(ledger.findings({ deliveries: whole, attempts: since(NOON) })).toMatchObject({ found: 1, pending: 1 });
    });
  });

  it.each([
    ['delivered', { delivered: 1, failed: 0, pending: 0 }],
    ['failed', { delivered: 0, failed: 1, pending: 0 }],
    ['expired', { delivered: 0, failed: 1, pending: 0 }],
    ['retrying', { delivered: 0, failed: 0, pending: 1 }],
  ])('are counted by the last attempt when it is %s', async (outcome, counted) => {
    const { decideFanOut } = await import('@waypost/domain');
    ids[0] = [...decideFanOut(event, [subscription], NOON)][0]?.eventId ?? '';
    const ledger = ledgerWith();
    ledger.delivery(delivery());
    ledger.attempt({ ...delivery(), outcome: 'retrying' });
    ledger.attempt({ ...delivery(), outcome });
    // A replay is another series, and no final word on the first.
    ledger.delivery(delivery(1));
    ledger.attempt({ ...delivery(1), outcome: 'failed' });
    expect(ledger.findings()).toMatchObject({ found: 1, missing: [], repeated: [], ...counted });
    ledger.delivery(delivery());
    expect(ledger.findings().repeated).toEqual([ids[0]]);
  });
});
