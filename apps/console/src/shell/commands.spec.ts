import { describe, expect, it } from '@jest/globals';
import type { Subscription } from '@waypost/client';
import type { Reader } from '../session/access.js';
import { commandsOf } from './commands.js';
import { placesOf } from './places.js';

const ID = '0b0e8f0a-1111-4222-8333-444455556666';
const SUBSCRIPTIONS = [
  { id: ID, eventType: 'position', url: 'https://a.example/hooks' },
  { id: 'other', eventType: 'ignition_on', url: 'https://b.example/hooks' },
] as unknown as Subscription[];

function hrefs(text: string, reader: Reader | null = null): string[] {
  return commandsOf(text, placesOf(reader).fleet, SUBSCRIPTIONS, reader).map(({ href }) => href);
}

describe('the command palette', () => {
  it('has the pages before anything is typed', () => {
    expect(hrefs('')).toContain('/deliveries?view=live');
    expect(hrefs('').some((href) => href.includes('subscriptions/other'))).toBe(false);
  });

  it('finds an event or a subscription by its id', () => {
    expect(hrefs(` ${ID} `)).toEqual([`/deliveries/${ID}`, `/subscriptions/${ID}`]);
  });

  it('takes three digits for a code first, and everything else for a device', () => {
    expect(hrefs('503')).toEqual(['/deliveries?statusCode=503', '/deliveries?deviceId=503', '/vehicles?deviceId=503']);
    expect(hrefs('van/9 &')[0]).toBe('/deliveries?deviceId=van%2F9%20%26');
  });

  it('takes a name, a colon and a value for a field of the payload first', () => {
    expect(hrefs('driverId:driver 46').slice(0, 2)).toEqual([
      '/deliveries?payload=driverId%3Adriver%2046',
      '/deliveries?deviceId=driverId%3Adriver%2046',
    ]);
  });

  it('finds subscriptions by their type and their URL, and pages by their title', () => {
    expect(hrefs('b.example')).toContain('/subscriptions/other');
    expect(hrefs('NEW SUB')).toContain('/subscriptions/new');
  });

  it('leads nowhere that the reader may not go (R-42)', () => {
    const deliveries = { type: 'portal_session', scopes: ['events:read'] };
    expect(hrefs('van-1', deliveries)).toEqual(['/deliveries?deviceId=van-1']);
    expect(hrefs('sub', deliveries)).not.toContain('/subscriptions/new');
  });

  it('offers nothing that a key may only read (R-38)', () => {
    const reading = { type: 'api_key', scopes: ['subscriptions:read', 'paths:read'] };
    expect(hrefs('', reading)).toEqual(['/subscriptions', '/vehicles']);
  });
});
