import { describe, expect, it } from '@jest/globals';
import type { AttemptResult } from '@waypost/domain';
import type { Moment } from '../../process/clocks.js';
import { type PendingDelivery, SubscriptionBacklog } from '../backlogs/subscription-backlog.js';
import { aDelivery } from '../testing/sender-samples.js';
import { attemptRecord, type EndedAttempt, expiredRecord } from './attempt-record.js';

describe('the record of an attempt (R-24)', () => {
  const pending = {
    backlog: new SubscriptionBacklog('subscription-1'),
    offset: 7,
    delivery: aDelivery(1),
    progress: { type: 'unstarted' },
  } as PendingDelivery;

  /** The clocks of the process, of which the epoch clock was set ahead so much. */
  function at(epochMs: number, aheadMs = 0): Moment {
    return { epochMs: epochMs + aheadMs, monotonicMs: epochMs - 1_000 };
  }

  function recordOf(result: AttemptResult, more: Partial<EndedAttempt> = {}) {
    const times = { due: at(4_990), started: at(5_000), ended: at(5_060) };
    const decision = { outcome: 'delivered', decision: 'accepted' } as const;
    return attemptRecord({
      pending,
      url: 'https://a.example/',
      attempt: 1,
      isProbe: false,
      ...times,
      result,
      decision,
      ...more,
    });
  }

  it('of a first attempt has the exact body and its own start as that of the delivery', () => {
    const { createdAt, ...delivery } = aDelivery(1);
    expect(recordOf({ type: 'response', statusCode: 200, retryAfter: null })).toMatchObject({
      ...delivery,
      deliveryOffset: 7,
      deliveryCreatedAt: createdAt,
      url: 'https://a.example/',
      attempt: 1,
      dueAt: 4_990,
      startedAt: 5_000,
      firstAttemptAt: 5_000,
      durationMs: 60,
      statusCode: 200,
      errorCode: null,
      errorDetail: null,
      outcome: 'delivered',
      decision: 'accepted',
      nextDueAt: null,
    });
  });

  it('of a later attempt has no body, and the start of the first', () => {
    const progress = {
      type: 'pending',
      nextAttempt: 2,
      probes: 3,
      dueAt: 0,
      firstAttemptAt: 1_234,
      unauthorizedBefore: false,
    } as const;
    const decision = { outcome: 'retrying', decision: 'temporary_error', nextDueAt: 9_000, renewToken: false } as const;
    const error = { type: 'error', errorCode: 'tls_error', detail: 'x'.repeat(501) } as const;
    expect(recordOf(error, { pending: { ...pending, progress }, attempt: 2, decision })).toMatchObject({
      ...{
        attempt: 2,
        probe: false,
        probes: 3,
        firstAttemptAt: 1_234,
        body: null,
        statusCode: null,
        errorCode: 'tls_error',
      },
      errorDetail: 'x'.repeat(500),
      outcome: 'retrying',
      decision: 'temporary_error',
      nextDueAt: 9_000,
    });
  });

  it.each([
    ['text', Buffer.from('unknown\tdevice\n'), 'unknown\tdevice\n'],
    ['no body', Buffer.alloc(0), null],
    ['more than 1 KiB', Buffer.alloc(2_000, 'a'), 'a'.repeat(1_024)],
    ['1 KiB that ends within a character', Buffer.from('ü'.repeat(511) + 'a€'), 'ü'.repeat(511) + 'a'],
    ['1 KiB that is no text', Buffer.alloc(1_024, 0xff), '\ufffd'.repeat(341)],
    ['bytes that are no text', Buffer.from([0x61, 0x00, 0x1b, 0xff, 0x62]), 'a\ufffdb'],
  ])('of a refusal has what the receiver said: %s', (_, body, responseBody) => {
    const decision = { outcome: 'failed', decision: 'permanent_status', renewToken: false } as const;
    const result = { type: 'response', statusCode: 422, body } as const;
    expect(recordOf(result, { decision }).responseBody).toBe(responseBody);
    expect(recordOf({ ...result, statusCode: 200 }).responseBody).toBeNull();
  });

  it.each([3_600_000, -3_600_000])(
    'says how long it took and how late it was, though the clock was set by %d ms meanwhile (R-22)',
    (stepMs) => {
      const ok = { type: 'response', statusCode: 200 } as const;
      expect(recordOf(ok, { ended: at(5_060, stepMs) })).toMatchObject({ startedAt: 5_000, durationMs: 60 });
      const stepped = recordOf(ok, { started: at(5_000, stepMs), ended: at(5_060, stepMs) });
      expect(stepped).toMatchObject({ startedAt: 5_000 + stepMs, dueAt: 4_990 + stepMs, durationMs: 60 });
    },
  );

  it('that ends a delivery as expired is the next one after its attempts, or the history would not take it (R-29)', () => {
    const progress = { type: 'pending', nextAttempt: 3, probes: 2, dueAt: 0, firstAttemptAt: 900 } as const;
    const tried = { ...pending, due: at(4_000), progress: { ...progress, unauthorizedBefore: false } };
    const expired = { outcome: 'expired', attempt: 3, probes: 2, probe: false, firstAttemptAt: 900 };
    expect(expiredRecord(tried, at(5_000), '')).toMatchObject(expired);
    expect(expiredRecord({ ...pending, due: at(4_000) }, at(5_000), '')).toMatchObject({ attempt: 1, probes: 0 });
  });
});
