import { describe, expect, it } from '@jest/globals';
import { isOpen, lackOf } from './access.js';

describe('the places of the console (R-42)', () => {
  it.each<[readonly string[] | null, string[]]>([
    [null, ['/overview', '/deliveries', '/subscriptions', '/vehicles']],
    [['events:read'], ['/overview', '/deliveries']],
    [['subscriptions:read', 'subscriptions:write'], ['/subscriptions']],
    [
      ['events:read', 'paths:read'],
      ['/overview', '/deliveries', '/vehicles'],
    ],
    [[], []],
  ])('are those that the scopes %j open', (scopes, open) => {
    const places = ['/overview', '/deliveries', '/subscriptions', '/vehicles'];
    expect(places.filter((path) => isOpen(path, { type: 'api_key', scopes }))).toEqual(open);
  });
});

describe('what is not offered (R-38)', () => {
  const all = ['subscriptions:write', 'geofences:write', 'paths:read'];

  it('is what a key lacks the scope for', () => {
    const key = { type: 'api_key', scopes: ['paths:read'] };
    expect(lackOf(key, 'paths:read')).toBeNull();
    expect(lackOf(key, 'geofences:write')).toBe('Your key can only read: it lacks geofences:write.');
    expect(lackOf(key, 'subscriptions:create')).toBe('Your key can only read: it lacks subscriptions:write.');
  });

  it('is what a session that is limited to some subscriptions cannot do for the fleet (R-42)', () => {
    const session = { type: 'portal_session', scopes: ['subscriptions:write'], subscriptionIds: ['a'] };
    expect(lackOf(session, 'subscriptions:write')).toBeNull();
    for (const deed of ['subscriptions:create', 'subscriptions:delete'] as const)
      expect(lackOf(session, deed)).toBe('Your session is limited to some subscriptions.');
  });

  it('is nothing before the reader is known, and nothing for a key with every scope', () => {
    for (const deed of ['subscriptions:delete', 'geofences:write'] as const) {
      expect(lackOf(null, deed)).toBeNull();
      expect(lackOf({ type: 'api_key', scopes: all }, deed)).toBeNull();
    }
  });
});
