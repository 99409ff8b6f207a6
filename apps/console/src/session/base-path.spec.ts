import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { baseOf, fleetOf, isPortal, lastingName, storedName } from './base-path.js';

const PORTAL = '/portal/3f2b0c7e-9a51-4d2e-8c34-0f6d1f1b7a10';
const SESSION = `${PORTAL}/9d9db1c4-0a55-4a43-a7a3-0f6d1f1b7a10`;

describe('what the console keeps in the storage of a tab', () => {
  const other = '/portal/8e03978e-40d5-43dd-bc93-6894a57f9324/overview';

  it('is apart for each session of a portal, whose frames share the storage, and the same on all of its pages (R-42)', () => {
    const addresses = [`${SESSION}/overview`, `${PORTAL}/${randomUUID()}`, `${PORTAL}/overview`, other, '/overview'];
    const names = addresses.map((path) => storedName('key', path));
    expect(new Set(names).size).toBe(5);
    expect(storedName('key', `${SESSION}/deliveries/x`)).toBe(names[0]);
  });

  it('is shared by the pages of an operator', () => {
    expect(storedName('key', '/fleets/acme/overview')).toBe(storedName('key', '/overview'));
  });
});

describe('what the console keeps in the storage of a browser', () => {
  const [one, other] = [`${SESSION}/overview`, `${PORTAL}/${randomUUID()}/deliveries`];

  it('is apart for sessions of a portal with other subscriptions, and shared by those with the same (R-42)', () => {
    const readers = [{}, { subscriptionIds: ['a'] }, { subscriptionIds: ['a', 'b'] }];
    const names = readers.map((reader) => lastingName('list', one, reader));
    const unknown = [one, other, `${PORTAL}/overview`].map((path) => lastingName('list', path, null));
    expect(new Set([...names, ...unknown]).size).toBe(6);
    expect(lastingName('list', other, {})).toBe(names[0]);
    expect(lastingName('list', other, { subscriptionIds: ['b', 'a'] })).toBe(names[2]);
  });

  it('is apart for each portal, and for the console itself', () => {
    const elsewhere = [`/portal/${randomUUID()}/overview`, '/overview'].map((path) => lastingName('list', path, {}));
    expect(new Set([lastingName('list', one, {}), ...elsewhere]).size).toBe(3);
  });

  it('is apart for each fleet, and the same for its key and for an operator (R-37)', () => {
    const ofKey = (fleetId: string) => lastingName('list', '/deliveries', { fleetId });
    const ofOperator = (fleetId: string) => lastingName('list', `/fleets/${fleetId}/deliveries`, null);
    const names = [ofKey('acme'), ofKey('other'), lastingName('list', '/deliveries', null)];
    expect(new Set(names).size).toBe(3);
    expect(names).toEqual([ofOperator('acme'), ofOperator('other'), expect.any(String)]);
    expect(lastingName('list', '/fleets/acme/overview', { fleetId: 'other' })).toBe(names[0]);
  });
});

describe('the base of the addresses of the console', () => {
  it.each([
    [PORTAL, PORTAL],
    [`${PORTAL}/`, PORTAL],
    [`${PORTAL}/deliveries/x`, PORTAL],
    [SESSION, SESSION],
    [`${SESSION}/deliveries/x`, SESSION],
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
