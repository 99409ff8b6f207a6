import { describe, expect, it } from '@jest/globals';
import { openSigningSecret } from '@waypost/domain';
import { counts } from '../../support/differences.js';
import { signingKey } from '../../support/signing-key.js';
import { deviceId, fleetId, makeSubscribers, PAUSED, wants } from './subscribers.js';

const sealingKey = Buffer.alloc(32, 7);
const subscribers = makeSubscribers({ port: 20_000, closedPort: 20_001, sealingKey, brief: false });

describe('the subscribers of the suite', () => {
  it('are 100 endpoints, 10 % of them failing and 10 % slow, and one of each other kind', () => {
    const wanting = subscribers.slice(0, 100);
    expect(counts(wanting.map(({ behavior }) => behavior))).toEqual({
      'always-503': 4,
      'first-503': 3,
      refuses: 3,
      slow: 10,
      healthy: 73,
      busy: 1,
      unauthorized: 1,
      silent: 1,
      gone: 1,
      redirects: 1,
      fixed: 2,
    });
    expect(new Set(wanting.map(({ path }) => path)).size).toBe(100);
  });

  it('use ports without a listener for endpoints that refuse', () => {
    for (const { behavior, subscription } of subscribers)
      expect(subscription.url).toContain(behavior === 'refuses' ? ':20001/' : ':20000/');
  });

  it('have fleets with two of them for different types, and want no other type, device or fleet', () => {
    const wanted = (eventType: string, fleet = 0, device = 0): number[] =>
      subscribers.flatMap((one, number) => {
        const event = { fleetId: fleetId(fleet), deviceId: deviceId(fleetId(fleet), device), eventType };
        return wants(one, event) ? [number] : [];
      });
    expect([wanted('position'), wanted('geofence_out'), wanted('route_finished')]).toEqual([[0], [90], []]);
    expect([wanted('position', 28, 3), wanted('position', 28, 4)]).toEqual([[28], []]);
  });

  it('ask for everything that a subscription can ask for', () => {
    const all = subscribers.map(({ subscription }) => subscription);
    expect(all.filter(({ strictOrder }) => strictOrder)).toHaveLength(8);
    expect(all.filter(({ auth }) => auth !== null)).toHaveLength(4);
    expect(new Set(all.map(({ auth }) => auth?.tokenAuthMethod)).size).toBe(3);
    expect(all.filter(({ onOutage }) => onOutage === 'hold')).toHaveLength(2);
    expect(all.filter(({ rateLimitPerSecond }) => rateLimitPerSecond !== null)).toHaveLength(3);
    expect(all.filter(({ payloadFormat }) => payloadFormat === 'legacy-v1')).toHaveLength(26);
    const legacy = all.filter(({ payloadFormat }) => payloadFormat === 'legacy-v1').map(({ eventType }) => eventType);
    expect(new Set(legacy)).toEqual(new Set(['position', 'geofence_out', 'route_finished']));
    expect(PAUSED.map((number) => subscribers[number]?.behavior)).toEqual(['healthy', 'healthy', 'first-503']);
    expect(PAUSED.map((number) => subscribers[number]?.subscription.strictOrder)).toEqual([false, false, true]);
  });

  it('sign with the secret that the receiver knows', () => {
    for (const { subscription, secret } of subscribers.slice(0, 3)) {
      const [sealed] = subscription.secrets;
      const opened = openSigningSecret(sealed?.sealed ?? '', [sealingKey], subscription.id);
      expect(opened).toMatchObject({ type: 'opened', plaintext: signingKey(secret) });
    }
  });
});
