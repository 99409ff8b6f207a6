import { describe, expect, it } from '@jest/globals';
import { isOpen } from './access.js';

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
    expect(places.filter((path) => isOpen(path, scopes))).toEqual(open);
  });
});
