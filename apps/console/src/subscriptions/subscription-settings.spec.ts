import { describe, expect, it } from '@jest/globals';
import type { Subscription } from '@waypost/client';
import { changeOf, creationOf, NEW_SETTINGS, settingsOf } from './subscription-settings.js';

const PLAIN = { payloadFormat: 'v1', onOutage: 'fail', strictOrder: false } as Subscription;

describe('the fields of a subscription', () => {
  it('change nothing when they are saved as they were', () => {
    const full = {
      ...PLAIN,
      ...{ payloadFormat: 'legacy-v1', deviceIds: ['van 1', 'a,b'], rateLimitPerSecond: 5, onOutage: 'hold' },
    } as Subscription;
    expect(changeOf(settingsOf(full))).toEqual({
      ...{ payloadFormat: 'legacy-v1', deviceIds: ['van 1', 'a,b'], rateLimitPerSecond: 5 },
      ...{ onOutage: 'hold', strictOrder: false },
    });
  });

  it('say every device and no limit where they are empty', () => {
    const change = changeOf({ ...settingsOf(PLAIN), deviceIds: ' \n', rateLimitPerSecond: '' });
    expect(change).toMatchObject({ deviceIds: null, rateLimitPerSecond: null });
  });

  it('leave the format of a new one to the fleet, and its devices out', () => {
    expect(creationOf(NEW_SETTINGS)).toEqual({ rateLimitPerSecond: null, onOutage: 'fail', strictOrder: false });
    expect(creationOf({ ...NEW_SETTINGS, deviceIds: 'van-1\n van-2 ' })).toMatchObject({
      deviceIds: ['van-1', 'van-2'],
    });
  });
});
