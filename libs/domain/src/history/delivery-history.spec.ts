import { describe, expect, it } from '@jest/globals';
import { NOON } from '../../../../test/support/samples.js';
import { attemptCount, type AttemptEntry, deliveryStatus } from './delivery-history.js';

describe('attemptCount', () => {
  const entryOf = (attempt: number, decision: string, probe = false): AttemptEntry => ({
    attempt,
    decision,
    probe,
    probes: 0,
    startedAt: NOON,
    dueAt: NOON,
    durationMs: 0,
    statusCode: null,
    errorCode: null,
    errorDetail: null,
    responseBody: null,
    outcome: 'failed',
  });

  it('leaves out probes (R-29)', () => {
    expect(attemptCount({ attempts: [entryOf(1, 'temporary_status'), entryOf(2, 'temporary_status', true)] })).toBe(1);
  });

  it.each(['expired', 'subscription_disabled', 'subscription_deleted'])(
    'leaves out the end of a delivery by %s, for which nothing was sent',
    (decision) => {
      expect(attemptCount({ attempts: [entryOf(1, 'temporary_status'), entryOf(2, decision)] })).toBe(1);
      expect(attemptCount({ attempts: [entryOf(1, decision)] })).toBe(0);
    },
  );

  it.each(['attempts_exhausted', 'address_refused', 'url_refused', 'permanent_status'])(
    'counts an end by %s',
    (decision) => {
      expect(attemptCount({ attempts: [entryOf(1, 'temporary_error'), entryOf(2, decision)] })).toBe(2);
    },
  );
});

describe('deliveryStatus', () => {
  it.each([
    ['delivered', 'delivered'],
    ['failed', 'failed'],
    ['retrying', 'pending'],
  ])('makes of the outcome %s the status %s', (outcome, status) => expect(deliveryStatus(outcome)).toBe(status));
});
