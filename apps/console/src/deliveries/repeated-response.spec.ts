import { describe, expect, it } from '@jest/globals';
import type { V2Event } from '@waypost/client';
import { sameResponseBefore } from './repeated-response.js';

type Attempt = V2Event['delivery']['attempts'][number];

function attempt(number: number, statusCode: number, responseBody?: string): Attempt {
  const at = '2026-05-04T08:00:00.000Z';
  const said = responseBody === undefined ? {} : { responseBody };
  return { attempt: number, dueAt: at, startedAt: at, durationMs: 1, statusCode, ...said };
}

describe('the attempts of a delivery', () => {
  it('refer to the first that got the same response, by its code and its text', () => {
    const attempts = [
      attempt(1, 503, 'busy'),
      attempt(2, 500, 'busy'),
      attempt(3, 503, 'busy'),
      attempt(4, 503),
      attempt(5, 503),
      attempt(6, 503, 'busy'),
    ];
    const first = attempts.map((_, index) => sameResponseBefore(attempts, index)?.attempt ?? null);
    expect(first).toEqual([null, null, 1, null, null, 1]);
  });
});
