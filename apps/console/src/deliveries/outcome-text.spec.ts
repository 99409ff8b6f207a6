import { describe, expect, it } from '@jest/globals';
import type { V2Event } from '@waypost/client';
import { outcomeText } from './outcome-text.js';

type Delivery = V2Event['delivery'];

const FIRST = '2026-05-04T08:00:00.000Z';

function attemptOf(attempt: number, more: Partial<Delivery['attempts'][number]>): Delivery['attempts'][number] {
  return { attempt, dueAt: FIRST, startedAt: FIRST, durationMs: 40, ...more };
}

function deliveryOf(status: string, attempts: Delivery['attempts']): Delivery {
  const begun = attempts.length === 0 ? {} : { firstAttemptAt: FIRST };
  return { status, series: 0, attemptCount: attempts.length, attempts, ...begun };
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
});
