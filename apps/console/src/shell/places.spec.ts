import { describe, expect, it } from '@jest/globals';
import { placesOf } from './places.js';

const ALL = ['events:read', 'paths:read', 'subscriptions:read'];
const OF_FLEET = ['/overview', '/deliveries', '/subscriptions', '/vehicles'];
const OF_INSTALLATION = ['~/fleets', '~/topics', '~/partitions'];

function paths(reader: Parameters<typeof placesOf>[0]): string[] {
  const { fleet, installation } = placesOf(reader);
  return [...fleet, ...installation].map(({ path }) => path);
}

describe('the menu', () => {
  it('has the pages of the fleet until it is known who reads, and for an API key', () => {
    expect(paths(null)).toEqual(OF_FLEET);
    expect(paths({ type: 'api_key', fleetId: 'acme', scopes: ALL })).toEqual(OF_FLEET);
  });

  it('has for a portal session what its scopes open (R-42)', () => {
    const scopes = ['events:read'];
    expect(paths({ type: 'portal_session', fleetId: 'acme', scopes })).toEqual(['/overview', '/deliveries']);
  });

  it('has for an operator the pages of the installation, and those of a fleet once one is chosen (R-37)', () => {
    expect(paths({ type: 'admin', scopes: [] })).toEqual(OF_INSTALLATION);
    expect(paths({ type: 'admin', fleetId: 'acme', scopes: ALL })).toEqual([...OF_FLEET, ...OF_INSTALLATION]);
  });

  it('gives each page a key of its own', () => {
    const { fleet, installation } = placesOf({ type: 'admin', fleetId: 'acme', scopes: ALL });
    const keys = [...fleet, ...installation].map(({ key }) => key);
    expect(new Set(keys).size).toBe(keys.length);
  });
});
