import fc from 'fast-check';
import type { DeviceGeofences } from '@waypost/domain';

/** Any geofences that a device may be remembered with. */
export function deviceGeofences(time: fc.Arbitrary<number>): fc.Arbitrary<DeviceGeofences> {
  const visit = fc.record({
    geofenceId: fc.string({ unit: 'grapheme', minLength: 1, maxLength: 40 }),
    enteredAt: fc.option(time, { nil: null }),
    leavingSince: fc.option(time, { nil: null }),
    leavingFixes: fc.nat({ max: 100 }),
  });
  return fc.record({ seenAt: time, visits: fc.array(visit, { maxLength: 4 }) });
}
