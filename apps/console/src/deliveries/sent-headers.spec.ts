import { describe, expect, it } from '@jest/globals';
import type { V2Event } from '@waypost/client';
import { sentHeaders } from './sent-headers.js';

const ATTEMPT = { attempt: 2, startedAt: '2026-05-04T08:00:01.900Z', dueAt: '2026-05-04T08:00:01.000Z', durationMs: 5 };
const ITEM = { eventId: 'e-1', subscriptionId: 's-1' } as V2Event;
const BEARER = { type: 'bearer', tokenUrl: 'https://id.example/token', clientId: 'w', tokenAuthMethod: 'x' } as const;

describe('the headers that were sent', () => {
  it('have all that Waypost adds, without what is not kept (R-19)', () => {
    expect(sentHeaders(ITEM, ATTEMPT, { type: 'none' }).split('\n')).toEqual([
      'content-type: application/json',
      'webhook-id: e-1',
      'webhook-timestamp: 1777881601',
      'webhook-signature: v1,…',
      'x-service-event-id: e-1',
      'x-service-subscription-id: s-1',
      'x-service-attempt: 2',
      'x-service-signature: t=1777881601,v1=…',
      'traceparent: 00-…',
    ]);
  });

  it('have the token of a subscription that fetches one, and hide it (R-23)', () => {
    expect(sentHeaders(ITEM, ATTEMPT, BEARER).split('\n')).toContain('authorization: Bearer …');
  });
});
