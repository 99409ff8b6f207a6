import { describe, expect, it } from '@jest/globals';
import { topics } from '@waypost/contracts';
import { partitionForKey } from '@waypost/streams';
import { partitionIn } from './moved-topics.js';

describe('the partition of a moved record', () => {
  it('is that of the pings of the device, whose key is the device alone, whatever its fleet (R-1)', () => {
    for (const deviceId of ['van-1', 'van-2', 'a\u001fb', '']) {
      const ofPings = partitionForKey(Buffer.from(deviceId), 7);
      expect(partitionIn(topics.deviceState, `fleet-a\u001f${deviceId}`, 7)).toBe(ofPings);
      expect(partitionIn(topics.deviceState, `fleet-b\u001f${deviceId}`, 7)).toBe(ofPings);
    }
  });

  it('is the only one in a table', () => {
    expect(partitionIn(topics.fleetGeofences, 'fleet-a\u001ffence', 1)).toBe(0);
  });
});
