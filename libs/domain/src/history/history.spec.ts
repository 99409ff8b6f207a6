import { describe, expect, it } from '@jest/globals';
import { NOON } from '../../../../test/support/samples.js';
import { attemptCount, type AttemptEntry, deliveryStatus } from './delivery-history.js';
import { queryFingerprint } from './page-token.js';
import { clampWindow } from './retention.js';

describe('queryFingerprint (R-34)', () => {
  const query = { startAt: NOON, endAt: NOON + 1, eventTypes: ['position', 'ignition_on'] };

  it.each([
    ['other names first', { endAt: NOON + 1, eventTypes: ['position', 'ignition_on'], startAt: NOON }],
    ['a list in another order', { ...query, eventTypes: ['ignition_on', 'position'] }],
    ['a value twice in a list', { ...query, eventTypes: ['position', 'ignition_on', 'position'] }],
    ['filters that are not asked for', { ...query, deviceId: undefined, statusCode: null }],
  ])('is the same with %s', (_, same) => expect(queryFingerprint(same)).toBe(queryFingerprint(query)));

  it.each([
    ['a value', { ...query, endAt: NOON + 2 }],
    ['the name of a value', { startAt: NOON, stopAt: NOON + 1, eventTypes: query.eventTypes }],
    ['one filter more', { ...query, statusCode: 500 }],
    ['one value less', { ...query, eventTypes: ['position'] }],
    ['one filter less', { startAt: NOON, endAt: NOON + 1 }],
    ['the split of the values', { ...query, eventTypes: ['position,ignition_on'] }],
  ])('differs by %s', (_, other) => expect(queryFingerprint(other)).not.toBe(queryFingerprint(query)));

  it('keeps a number apart from its text', () => {
    expect(queryFingerprint({ statusCode: 500 })).not.toBe(queryFingerprint({ statusCode: '500' }));
  });

  it('stays the same from release to release: tokens outlive a deployment', () => {
    expect(queryFingerprint(query)).toBe('Wdo-a-H2WdtNBsNAjYPRyX');
  });
});

describe('clampWindow (R-31)', () => {
  const retained = NOON - 15 * 86_400_000;

  it('does not change a window within the retention', () => {
    const window = { startAt: retained, endAt: NOON + 1 };
    expect(clampWindow(window, NOON)).toEqual({ type: 'window', ...window });
  });

  it('moves an earlier start to that of the retention', () => {
    expect(clampWindow({ startAt: 0, endAt: NOON }, NOON)).toEqual({ type: 'window', startAt: retained, endAt: NOON });
  });

  it.each([0, -1])('finds nothing in a window that ends %d ms from the start of the retention', (ms) => {
    expect(clampWindow({ startAt: 0, endAt: retained + ms }, NOON)).toEqual({ type: 'empty' });
  });

  it.each([0, -1])('refuses a window that is %d ms long', (ms) => {
    expect(clampWindow({ startAt: NOON, endAt: NOON + ms }, NOON)).toEqual({ type: 'reversed' });
  });
});

describe('attemptCount', () => {
  const entryOf = (attempt: number, decision: string, probe = false): AttemptEntry => ({
    ...{ attempt, decision, probe, probes: 0, startedAt: NOON, dueAt: NOON, durationMs: 0 },
    ...{ statusCode: null, errorCode: null, errorDetail: null, responseBody: null, outcome: 'failed' },
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
