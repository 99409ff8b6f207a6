import { describe, expect, it } from '@jest/globals';
import type { V2Event } from '@waypost/client';
import { listed } from './listed-delivery.js';

describe('a row of the deliveries', () => {
  it('has the error of the last attempt, and neither the payload nor what was answered', () => {
    const attempt = { attempt: 1, dueAt: 'x', startedAt: 'x', durationMs: 3, responseBody: 'No such vehicle' };
    const attempts = [
      { ...attempt, statusCode: 503 },
      { ...attempt, attempt: 2, error: 'timeout' },
    ];
    const delivery = { status: 'pending', series: 1, attemptCount: 2, firstAttemptAt: 'x', attempts } as const;
    const payload = { driverId: 'd-46' };
    const row = listed({ eventId: 'e', deviceId: 'van-1', payload, delivery } as unknown as V2Event);
    expect(row).toEqual({
      eventId: 'e',
      deviceId: 'van-1',
      delivery: { status: 'pending', series: 1, attemptCount: 2, firstAttemptAt: 'x', lastError: 'timeout' },
    });
  });
});
