import fc from 'fast-check';
import type { PathPoint } from '@waypost/domain';

/** Noon of a UTC day. */
export const NOW = Date.UTC(2026, 5, 20, 12);

export function pointOf(fields: Partial<PathPoint> = {}): PathPoint {
  return {
    fleetId: 'fleet-1',
    deviceId: 'device-1',
    eventTime: NOW - 60_000,
    latitude: 52.1,
    longitude: 4.9,
    speedInKmh: null,
    heading: null,
    ignition: null,
    odometerInMeters: null,
    rpm: null,
    fuelLevel: null,
    valid: true,
    ...fields,
  };
}

/** Ids whose order differs by code unit, by locale and by UTF-8 byte. */
export const DEVICE_IDS = ['Z', 'a', 'device-10', 'device-9', 'é', '車両', '\uff5e', '🚚'] as const;

/** The same ids in the order of their UTF-8 bytes. */
export const SORTED_DEVICE_IDS = [...DEVICE_IDS].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));

function measured(max: number): fc.Arbitrary<number | null> {
  return fc.option(fc.double({ min: 0, max, noNaN: true, noDefaultInfinity: true }));
}

/** A log with late pings and many repetitions, some with other content: few devices, few times, over three days. */
export function anyLog(fleetId: string): fc.Arbitrary<PathPoint[]> {
  return fc.array(
    fc
      .record({
        deviceId: fc.constantFrom(...DEVICE_IDS),
        eventTime: fc.nat({ max: 7 }).map((step) => NOW - step * 9 * 3_600_000),
        latitude: measured(90),
        speedInKmh: measured(200),
        ignition: fc.option(fc.boolean()),
        odometerInMeters: fc.option(fc.nat({ max: Number.MAX_SAFE_INTEGER })),
        rpm: fc.option(fc.nat({ max: 8_000 })),
        valid: fc.boolean(),
      })
      .map((fields) => pointOf({ fleetId, ...fields })),
    { maxLength: 120, size: 'max' },
  );
}

/** The expected paths of a log: the first ping of each device and time, in page order. Plain rather than fast. */
export function foldOf(log: readonly PathPoint[]): PathPoint[] {
  const isSame = (a: PathPoint, b: PathPoint): boolean =>
    a.fleetId === b.fleetId && a.deviceId === b.deviceId && a.eventTime === b.eventTime;
  return log
    .filter((point, index) => log.findIndex((other) => isSame(other, point)) === index)
    .sort(
      (a, b) =>
        SORTED_DEVICE_IDS.indexOf(a.deviceId as never) - SORTED_DEVICE_IDS.indexOf(b.deviceId as never) ||
        a.eventTime - b.eventTime,
    );
}
