import { describe, expect, it } from '@jest/globals';
import type { V2Event } from '@waypost/client';
import { outcomeText } from './outcome-text.js';

type Delivery = V2Event['delivery'];
type Attempt = Delivery['attempts'][number];

const FIRST = '2026-05-04T08:00:00.000Z';
const LATER = '2026-05-05T08:00:00.000Z';

function attemptOf(attempt: number, more: Partial<Attempt>): Attempt {
  return { attempt, dueAt: FIRST, startedAt: FIRST, durationMs: 40, ...more };
}

function deliveryOf(status: string, attempts: Delivery['attempts']): Delivery {
  const begun = attempts.length === 0 ? {} : { firstAttemptAt: FIRST };
  return { status, series: 0, attemptCount: attempts.length, attempts, ...begun };
}

/** With a last line that is an end or a probe, and so many attempts and probes before that line and in it. */
function heldOf(status: string, last: Partial<Attempt>, attemptCount: number, probeCount = 0): Delivery {
  const delivery = deliveryOf(status, [attemptOf(attemptCount + 1, { startedAt: LATER, ...last })]);
  return { ...delivery, attemptCount, ...(probeCount > 0 && { probeCount }) };
}

const REFUSED = attemptOf(1, { statusCode: 503 });

describe('what became of a delivery', () => {
  it.each([
    ['pending', [], 'No attempt yet: it waits for earlier deliveries, or for its subscription to become active.'],
    ['failed', [], 'It ended without an attempt.'],
    ['pending', [REFUSED], 'Not accepted so far: 503 Service Unavailable. It will be retried.'],
    ['failed', [attemptOf(1, { statusCode: 422 })], 'Not accepted, and not retried: 422 Unprocessable Content.'],
    ['failed', [REFUSED, attemptOf(2, { error: 'timeout' })], 'Not accepted in 2 attempts: timeout at the last one.'],
    ['delivered', [attemptOf(1, { statusCode: 200 })], 'Accepted at the first attempt.'],
    [
      'delivered',
      [REFUSED, attemptOf(2, { statusCode: 204, startedAt: '2026-05-04T08:00:07.000Z' })],
      'Accepted after 2 attempts, within 7.04 s.',
    ],
  ])('is said in a sentence: %s', (status, attempts, text) => {
    expect(outcomeText(deliveryOf(status, attempts))).toBe(text);
  });

  it.each([
    ['failed', { error: 'subscription_disabled' }, 0, 0, 'It ended without an attempt: its subscription was disabled.'],
    [
      'failed',
      { error: 'subscription_deleted' },
      2,
      0,
      'Not accepted in 2 attempts, and not retried: its subscription was deleted.',
    ],
    [
      'failed',
      { error: 'expired' },
      1,
      86_400,
      'Not accepted in 1 attempt and 86,400 probes, and not retried: it had waited for too long.',
    ],
  ])('names the end of one that was not sent any more (R-16, R-29): %s, %j', (status, last, attempts, probes, text) => {
    expect(outcomeText(heldOf(status, last, attempts, probes))).toBe(text);
  });

  it.each([
    ['pending', 503, 0, 1, 'Not accepted so far: 503 Service Unavailable. It will be retried.'],
    ['failed', 422, 1, 2, 'Not accepted in 1 attempt and 2 probes: 422 Unprocessable Content at the last one.'],
    ['delivered', 200, 0, 1, 'Accepted at the first probe.'],
    ['delivered', 200, 0, 7, 'Accepted by a probe, after 7 probes, within 1 d.'],
    ['delivered', 200, 2, 1, 'Accepted by a probe, after 2 attempts and 1 probe, within 1 d.'],
  ])('counts the probes of one that was held (R-29): %s with %d', (status, statusCode, attempts, probes, text) => {
    expect(outcomeText(heldOf(status, { probe: true, statusCode }, attempts, probes))).toBe(text);
  });
});
