import { describe, expect, it } from '@jest/globals';
import type { WebhookSubscription } from '../records/webhook-subscription.js';
import { testDelivery } from './test-delivery.js';

const NOW = Date.UTC(2026, 2, 1, 8, 30, 0, 7);
const UUID_V5 = /^[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

function subscription(given: Partial<WebhookSubscription> = {}): WebhookSubscription {
  return {
    id: '0b0e8f0a-6f4e-4c53-9a54-7d4b5b0d9a11',
    fleetId: 'acme',
    eventType: 'position',
    url: 'https://receiver.example/hook',
    status: 'active',
    disabledReason: null,
    payloadFormat: 'v1',
    deviceIds: ['van-1'],
    auth: null,
    rateLimitPerSecond: null,
    description: null,
    metadata: {},
    headers: [],
    clientCertificate: null,
    onOutage: 'fail',
    strictOrder: false,
    secrets: [],
    version: 1,
    createdAt: 0,
    updatedAt: 0,
    ...given,
  };
}
function make(given: Partial<WebhookSubscription> = {}, requestId = 'r-1') {
  return testDelivery(subscription(given), { requestId, nowMs: NOW });
}

describe('A test event', () => {
  it('has the envelope of any other and nothing made up in it', () => {
    const { body, eventId } = make();
    expect(eventId).toMatch(UUID_V5);
    expect(body).toBe(
      `{"eventId":"${eventId}","eventTime":"2026-03-01T08:30:00.007Z","eventType":"test",` +
        '"eventData":{"deviceId":"test-device","fleetId":"acme"}}',
    );
  });

  it('is one flat object for a subscription to legacy-v1', () => {
    const { body, eventId, format } = make({ payloadFormat: 'legacy-v1' });
    expect(format).toBe('legacy-v1');
    expect(JSON.parse(body)).toEqual({
      event_id: eventId,
      event: 'test',
      fleet_id: 'acme',
      device_id: 'test-device',
      timestamp: NOW,
    });
  });

  it('is a first sending to its subscription', () => {
    expect(make()).toMatchObject({
      subscriptionId: '0b0e8f0a-6f4e-4c53-9a54-7d4b5b0d9a11',
      fleetId: 'acme',
      deviceId: 'test-device',
      eventType: 'test',
      eventTime: NOW,
      createdAt: NOW,
      series: 0,
      replayId: null,
    });
  });

  it('has another id for each request and each subscription, even within one millisecond', () => {
    const ids = [make(), make({}, 'r-2'), make({ id: '1b0e8f0a-6f4e-4c53-9a54-7d4b5b0d9a11' })].map((d) => d.eventId);
    expect(new Set(ids).size).toBe(3);
    expect(make().eventId).toBe(ids[0]);
  });
});
