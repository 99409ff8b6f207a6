import { describe, expect, it } from '@jest/globals';
import { openSigningSecret, parseSigningSecret } from '@waypost/domain';
import { counts } from '../../support/differences.js';
import { isWanting, makeSubscribers } from './subscribers.js';

const sealingKey = Buffer.alloc(32, 7);
const subscribers = makeSubscribers({ port: 20_000, closedPort: 20_001, sealingKey });

describe('the subscribers of the suite', () => {
  it('are 100 endpoints, 10 % of them failing and 10 % slow', () => {
    const wanting = subscribers.filter(isWanting);
    expect(counts(wanting.map(({ behaviour }) => behaviour))).toEqual({
      ...{ 'always-503': 4, 'first-503': 3, refuses: 3 },
      ...{ slow: 10, healthy: 80 },
    });
    expect(new Set(wanting.map(({ path }) => path)).size).toBe(100);
  });

  it('use ports without a listener for endpoints that refuse', () => {
    for (const { behaviour, subscription } of subscribers)
      expect(subscription.url).toContain(behaviour === 'refuses' ? ':20001/' : ':20000/');
  });

  it('have fleets with two of them, and some with none', () => {
    const ofFirst = subscribers.filter(
      ({ subscription }) => subscription.fleetId === subscribers[0]?.subscription.fleetId,
    );
    expect(ofFirst.map(isWanting)).toEqual([true, true, false, false]);
  });

  it('sign with the secret that the receiver knows', () => {
    for (const { subscription, secret } of subscribers.slice(0, 3)) {
      const [sealed] = subscription.secrets;
      const opened = openSigningSecret(sealed?.sealed ?? '', [sealingKey], subscription.id);
      expect(opened).toMatchObject({ type: 'opened', plaintext: parseSigningSecret(secret) });
    }
  });
});
