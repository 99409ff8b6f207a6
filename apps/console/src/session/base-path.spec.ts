import { describe, expect, it } from '@jest/globals';
import { baseOf, fleetOf, isPortal } from './base-path.js';

const PORTAL = '/portal/3f2b0c7e-9a51-4d2e-8c34-0f6d1f1b7a10';

describe('the base of the addresses of the console', () => {
  it.each([
    [PORTAL, PORTAL],
    [`${PORTAL}/`, PORTAL],
    [`${PORTAL}/deliveries/x`, PORTAL],
    ['/', ''],
    ['/deliveries', ''],
    ['/portal/x', ''],
    [`${PORTAL}x`, ''],
  ])('is that of a portal where there is one (R-42): %s', (path, base) => {
    expect([baseOf(path), isPortal(path), fleetOf(path)]).toEqual([base, base !== '', null]);
  });

  it.each([
    ['/fleets', '', null],
    ['/fleets/acme', '/fleets/acme', 'acme'],
    ['/fleets/acme.eu-1/deliveries/x', '/fleets/acme.eu-1', 'acme.eu-1'],
    ['/fleets/-x/overview', '', null],
    ['/fleets/a%2Fb/overview', '', null],
  ])('names the fleet that an operator has chosen (R-37): %s', (path, base, fleetId) => {
    expect([baseOf(path), fleetOf(path), isPortal(path)]).toEqual([base, fleetId, false]);
  });
});
