import { describe, expect, it } from '@jest/globals';
import { pingOf } from '../../../../test/support/samples.js';
import { checkPing, MAX_ID_LENGTH } from './check-ping.js';

const US = '\u001f';

describe('checkPing (R-1, R-2)', () => {
  it.each([
    ['an ordinary ping', pingOf()],
    ['times at the ends of the range', pingOf({ eventTime: 0, receivedTime: Date.UTC(9999, 11, 31, 23, 59, 59, 999) })],
    [
      'ids of any script, the longest allowed',
      pingOf({ fleetId: 'frota-ção-車両', deviceId: 'd'.repeat(MAX_ID_LENGTH) }),
    ],
    ['coordinates that are no fix', pingOf({ latitude: Number.NaN, longitude: 999 })],
  ])('takes %s', (_, ping) => expect(checkPing(ping, ping.deviceId)).toEqual({ type: 'valid' }));

  it.each([
    ['an empty fleetId', pingOf({ fleetId: '' }), 'fleetId is empty'],
    ['an empty deviceId', pingOf({ deviceId: '' }), 'deviceId is empty'],
    ['the separator of eventIds', pingOf({ deviceId: `a${US}b` }), 'deviceId holds a control character: "a\\u001fb"'],
    ['NUL', pingOf({ fleetId: '\u0000' }), 'fleetId holds a control character: "\\u0000"'],
    ['DEL', pingOf({ fleetId: 'a\u007f' }), 'fleetId holds a control character'],
    ['a C1 control', pingOf({ fleetId: 'a\u0085' }), 'fleetId holds a control character'],
    ['bytes that are not UTF-8', pingOf({ deviceId: 'd\ufffd' }), 'deviceId contains bytes that are not UTF-8'],
    ['an id without a bound', pingOf({ deviceId: 'd'.repeat(MAX_ID_LENGTH + 1) }), 'deviceId is longer than 256'],
    ['a time before 1970', pingOf({ eventTime: -1 }), 'eventTime is not a time from 1970 to 9999'],
    ['a time after 9999', pingOf({ eventTime: 1, receivedTime: 253_402_300_800_000 }), 'receivedTime is not a time'],
    ['a time that is not a number', pingOf({ eventTime: Number.NaN, receivedTime: 1 }), 'eventTime is not a time'],
    ['an endless time', pingOf({ receivedTime: Infinity }), 'receivedTime is not a time'],
    ['a fraction of a millisecond', pingOf({ eventTime: 1.5, receivedTime: 1 }), 'eventTime is not a time'],
  ])('refuses %s and names the field', (_, ping, detail) => {
    expect(checkPing(ping, ping.deviceId)).toEqual({
      type: 'invalid',
      reason: 'invalid_field',
      detail: expect.stringContaining(detail),
    });
  });

  it.each([
    ['another key', 'device-2', 'the key is "device-2", deviceId "device-1"'],
    ['no key', null, 'the key is missing, deviceId "device-1"'],
    ['a key that differs in case', 'Device-1', 'the key is "Device-1", deviceId "device-1"'],
  ])('refuses a ping under %s', (_, key, detail) => {
    expect(checkPing(pingOf(), key)).toEqual({ type: 'invalid', reason: 'key_mismatch', detail });
  });

  it('keeps its detail short, however long the key is', () => {
    const check = checkPing(pingOf(), 'k'.repeat(1_000_000));

    expect(JSON.stringify(check).length).toBeLessThan(1_000);
  });
});
