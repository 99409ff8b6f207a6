import { createRandom } from './random.js';

export interface EventOfBody {
  readonly eventId: string;
  readonly eventTime: number;
  readonly eventType: string;
  readonly deviceId: string;
  readonly fleetId: string;
}

export type BodyWriter = (event: EventOfBody) => string;

const READINGS = 4_096;
const round = (value: number, digits: number): number => Number(value.toFixed(digits));

/**
 * Writes bodies of the format v1 with everything that a vehicle tells: some 450 bytes. What the vehicle measures is taken
 * in turn from a few thousand readings: a benchmark of the history is not one of JSON.
 */
export function createBodyWriter(seed: number): BodyWriter {
  const random = createRandom(seed);
  const readings = Array.from({ length: READINGS }, () => JSON.stringify(readingOf(random())).slice(1));
  let turn = 0;
  return ({ eventId, eventTime, eventType, deviceId, fleetId }) => {
    turn = (turn + 1) % READINGS;
    const time = new Date(eventTime).toISOString();
    const head = `{"eventId":"${eventId}","eventTime":"${time}","eventType":"${eventType}","eventData":`;
    return `${head}{"deviceId":"${deviceId}","fleetId":"${fleetId}",${readings[turn] ?? '}'}}`;
  };
}

function readingOf(some: number) {
  return {
    vehicleId: `WPT${String(Math.floor(some * 100_000))}`,
    licensePlate: `B-WP ${String(Math.floor(some * 10_000))}`,
    latitude: round(47 + some * 7, 6),
    longitude: round(6 + some * 9, 6),
    altitudeInMeters: Math.floor(some * 900),
    speedInKmh: round(some * 130, 1),
    heading: Math.floor(some * 360),
    ignition: some > 0.3,
    odometerInMeters: 10_000_000 + Math.floor(some * 90_000_000),
    batteryVoltage: round(12 + some * 2, 2),
    connectionType: 'lte',
    rpm: Math.floor(some * 3_500),
    fuelLevel: round(some * 100, 1),
  };
}
