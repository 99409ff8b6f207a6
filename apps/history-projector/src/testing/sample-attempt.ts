import { createHash } from 'node:crypto';
import type { WebhookAttempt } from '@waypost/domain';
import { attemptOf } from '../../../../test/support/samples.js';

/** Delivery number `n` of a fleet: attempt 1 is answered with 503, attempt 2 is accepted. */
export function sampleAttempt(fleetId: string, n: number, attempt: 1 | 2, firstAttemptAt: number): WebhookAttempt {
  const startedAt = firstAttemptAt + (attempt - 1) * 2_000;
  const more =
    attempt === 1
      ? { statusCode: 503, outcome: 'retrying', decision: 'temporary_status', nextDueAt: startedAt + 2_000 }
      : { statusCode: 200, outcome: 'delivered', decision: 'accepted', nextDueAt: null };
  return attemptOf({
    eventId: uuidOf(`${fleetId} ${String(n)}`),
    subscriptionId: uuidOf(fleetId),
    fleetId,
    deviceId: `device-${String(n)}`,
    eventTime: firstAttemptAt - 500,
    deliveryOffset: n,
    deliveryCreatedAt: firstAttemptAt - 10,
    attempt,
    startedAt,
    firstAttemptAt,
    body: attempt === 1 ? `{"n":${String(n)}}` : null,
    ...more,
  });
}

function uuidOf(name: string): string {
  const hex = createHash('sha256').update(name).digest('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20, 32)].join('-');
}
