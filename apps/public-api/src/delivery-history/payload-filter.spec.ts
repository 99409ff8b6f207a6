import { describe, expect, it } from '@jest/globals';
import { matchesPayload, parsePayloadFilter } from './payload-filter.js';

const BODY = JSON.stringify({
  eventTime: '2026-03-20T10:59:59.500Z',
  eventData: {
    driverId: 'driver-46',
    speedInKmh: 70.5,
    ignition: true,
    geofence: { id: 'g-1', tags: ['depot', 'night: shift'] },
    stops: [{ place: { city: 'Jena' } }, { place: { city: 'Köln' } }],
    note: null,
    empty: '',
    sign: 'a "b" \\ c',
  },
});

function found(filter: string): boolean {
  return matchesPayload(BODY, parsePayloadFilter(filter));
}

describe('a filter on a field of the payload (R-33)', () => {
  it.each([
    ['the whole path', 'eventData.driverId:driver-46'],
    ['the end of the path', 'driverId:driver-46'],
    ['its last two names', 'geofence.id:g-1'],
    ['a number', 'speedInKmh:70.5'],
    ['a truth value', 'ignition:true'],
    ['null', 'note:null'],
    ['an empty text', 'empty:'],
    ['a value that JSON escapes', 'sign:a "b" \\ c'],
    ['a value with colons', 'eventTime:2026-03-20T10:59:59.500Z'],
    ['any item of a list', 'tags:night: shift'],
    ['a field of any item of a list', 'stops.place.city:Köln'],
  ])('finds %s', (_, filter) => {
    expect(found(filter)).toBe(true);
  });

  it.each([
    ['another value', 'driverId:driver-4'],
    ['another case', 'driverId:Driver-46'],
    ['a gap in the path', 'eventData.id:g-1'],
    ['the beginning of a path', 'eventData:driver-46'],
    ['a name that every object inherits', 'constructor.name:Object'],
    ['an object', 'place:[object Object]'],
    ['a name with a dot', 'geofence.:g-1'],
  ])('does not find %s', (_, filter) => {
    expect(found(filter)).toBe(false);
  });
});
