import type { TelemetryPing } from '@waypost/domain';
import { chance, wholeBetween, type Random } from '../../../../tools/simulator/random.js';
import { pingOf } from '../../../support/samples.js';

/** An endless run of pings that the random numbers decide alone: late, repeated, without a fix, and ordinary ones. */
export interface MadeUpPings {
  next(nowMs: number): TelemetryPing;
  /** How many of them differ in device or time: each is a point of a path. */
  readonly points: () => number;
}

const DEVICES = 50;
const HOUR_MS = 3_600_000;
const LATEST_HOURS = 200;

export function createMadeUpPings(random: Random): MadeUpPings {
  const seen = new Set<string>();
  let last: TelemetryPing | null = null;
  return {
    points: () => seen.size,
    next(nowMs) {
      // The second one says something else, and must not count.
      if (last !== null && chance(random, 0.05)) return { ...last, latitude: 1, longitude: 1 };
      const lateMs = chance(random, 0.1) ? wholeBetween(random, 1, LATEST_HOURS) * HOUR_MS : 0;
      const deviceId = `device-${String(wholeBetween(random, 1, DEVICES))}`;
      const eventTime = nowMs - lateMs - wholeBetween(random, 0, 5_000);
      const hasFix = chance(random, 0.9);
      last = pingOf({
        ...{ fleetId: 'fleet-1', deviceId, eventTime, receivedTime: nowMs, positionValid: hasFix },
        latitude: hasFix ? wholeBetween(random, -80, 80) + random() : null,
        longitude: hasFix ? wholeBetween(random, -170, 170) + random() : null,
        speedInKmh: chance(random, 0.5) ? wholeBetween(random, 0, 120) : null,
        ignition: chance(random, 0.3) ? chance(random, 0.5) : null,
      });
      seen.add(`${deviceId} ${String(eventTime)}`);
      return last;
    },
  };
}
