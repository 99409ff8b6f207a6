import { randomUUID } from 'node:crypto';
import type { NewSubscription } from '../stores/create-subscriptions.js';

export function newSubscription(given: Partial<NewSubscription> & Pick<NewSubscription, 'fleetId'>): NewSubscription {
  return {
    id: randomUUID(),
    eventType: 'position',
    url: 'https://receiver.example/hook',
    description: null,
    metadata: {},
    payloadFormat: 'v1',
    deviceIds: null,
    auth: null,
    headers: [],
    clientCertificate: null,
    rateLimitPerSecond: null,
    onOutage: 'fail',
    strictOrder: false,
    secrets: [{ sealed: 'sealed-1', expiresAt: null }],
    ...given,
  };
}
