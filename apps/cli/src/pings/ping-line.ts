import { LONG_LIMIT } from '@waypost/contracts';
import type { TelemetryPing } from '@waypost/domain';

/** One object of a track file, as parsed. Times are ISO 8601; what its source lacks is absent. */
export type TrackRow = Readonly<Record<string, unknown>>;

export type PingLineResult =
  | { readonly type: 'ping'; readonly ping: TelemetryPing }
  | { readonly type: 'invalid'; readonly detail: string };

export interface PingLineOptions {
  readonly fleetId: string;
  /** Added to every time of the file. */
  readonly shiftMs: number;
  /** Else the ping counts as received when it was sent. */
  readonly keepReceivedTime: boolean;
}

interface NumberField {
  readonly names: readonly string[];
  readonly accept: (value: number) => number | null;
}

const MAX_INT = 2 ** 31 - 1;

function anyNumber(value: number): number | null {
  return value;
}
function wholeWithin(limit: number) {
  return (value: number): number | null => {
    const whole = Math.round(value);
    return Math.abs(whole) <= limit ? whole : null;
  };
}
/** Recorders write 360 for north, and numbers beyond it for "unknown". */
function bearing(value: number): number | null {
  return value === 360 ? 0 : value >= 0 && value < 360 ? value : null;
}

/** Each field of a ping by the names that it has in track files; the schema's own name always counts. */
const numberFields = {
  latitude: { names: ['latitude'], accept: anyNumber },
  longitude: { names: ['longitude'], accept: anyNumber },
  altitudeInMeters: { names: ['altitudeM', 'altitudeInMeters'], accept: anyNumber },
  speedInKmh: { names: ['speedKmh', 'speedInKmh'], accept: anyNumber },
  heading: { names: ['headingDeg', 'heading'], accept: bearing },
  satellites: { names: ['satellites'], accept: wholeWithin(MAX_INT) },
  hdop: { names: ['hdop'], accept: anyNumber },
  odometerInMeters: { names: ['odometerM', 'odometerInMeters'], accept: wholeWithin(LONG_LIMIT - 1) },
  rpm: { names: ['rpm'], accept: wholeWithin(MAX_INT) },
  fuelLevel: { names: ['fuelLevel'], accept: anyNumber },
  batteryVoltage: { names: ['batteryVoltage'], accept: anyNumber },
  sequence: { names: ['seq', 'sequence'], accept: wholeWithin(LONG_LIMIT - 1) },
} as const satisfies Readonly<Record<string, NumberField>>;

const textFields = ['connectionType', 'vehicleId', 'licensePlate', 'driverId'] as const;
const flagFields = ['ignition', 'buffered', 'positionValid'] as const;

class LineProblem extends Error {}

/**
 * A row of a track file as a ping. Fields that the schema does not have, and numbers that do not fit their field,
 * become attributes: nothing of a recording is lost.
 */
export function pingOf(row: TrackRow, options: PingLineOptions): PingLineResult {
  try {
    return { type: 'ping', ping: readPing(row, options) };
  } catch (error) {
    if (error instanceof LineProblem) return { type: 'invalid', detail: error.message };
    throw error;
  }
}

/** Epoch ms of a row's eventTime; null when it has none. */
export function eventTimeOf(row: TrackRow): number | null {
  const time = typeof row['eventTime'] === 'string' ? Date.parse(row['eventTime']) : NaN;
  return Number.isNaN(time) ? null : time;
}

function readPing(row: TrackRow, { fleetId, shiftMs, keepReceivedTime }: PingLineOptions): TelemetryPing {
  const fields = createFieldReader(row);
  const deviceId = fields.text('deviceId');
  if (deviceId === null || deviceId === '') throw new LineProblem('it has no deviceId');
  const eventTime = fields.time('eventTime');
  if (eventTime === null) throw new LineProblem('it has no eventTime');
  const receivedTime = fields.time('receivedTime');
  const numbers = Object.fromEntries(
    Object.entries(numberFields).map(([name, field]) => [name, fields.number(field)]),
  ) as Record<keyof typeof numberFields, number | null>;
  const texts = Object.fromEntries(textFields.map((name) => [name, fields.text(name)])) as Texts;
  const flags = Object.fromEntries(flagFields.map((name) => [name, fields.flag(name)])) as Flags;
  return {
    fleetId,
    deviceId,
    eventTime: eventTime + shiftMs,
    receivedTime: (keepReceivedTime && receivedTime !== null ? receivedTime : eventTime) + shiftMs,
    ...numbers,
    ...texts,
    ignition: flags.ignition,
    buffered: flags.buffered ?? false,
    positionValid: flags.positionValid ?? (numbers.latitude !== null && numbers.longitude !== null),
    attributes: fields.rest(),
  };
}

type Texts = Record<(typeof textFields)[number], string | null>;
type Flags = Record<(typeof flagFields)[number], boolean | null>;

/** Reads fields by name and type, and knows afterwards which were left over. */
function createFieldReader(row: TrackRow) {
  const taken = new Set<string>(['attributes']);

  function take(name: string): unknown {
    taken.add(name);
    return row[name] ?? null;
  }

  function flag(name: string): boolean | null {
    const value = take(name);
    if (value === null || typeof value === 'boolean') return value;
    throw new LineProblem(`${name} is not true or false`);
  }

  function text(name: string): string | null {
    const value = take(name);
    if (value === null || typeof value === 'string') return value;
    throw new LineProblem(`${name} is not a string`);
  }

  function time(name: string): number | null {
    const value = text(name);
    if (value === null) return null;
    const at = Date.parse(value);
    if (Number.isNaN(at)) throw new LineProblem(`${name} is not an ISO 8601 time`);
    return at;
  }

  function number({ names, accept }: NumberField): number | null {
    const name = names.find((one) => (row[one] ?? null) !== null);
    if (name === undefined) return null;
    const value = row[name];
    if (typeof value !== 'number') throw new LineProblem(`${name} is not a number`);
    const accepted = accept(value);
    if (accepted !== null) taken.add(name);
    return accepted;
  }

  function rest(): Record<string, string> {
    const nested = row['attributes'];
    const given = typeof nested === 'object' && nested !== null ? Object.entries(nested) : [];
    const left = Object.entries(row).filter(([name]) => !taken.has(name));
    const known = [...left, ...given].filter(([, value]) => value !== null && value !== undefined);
    return Object.fromEntries(known.map(([name, value]) => [name, attributeText(value)]));
  }

  return { flag, text, time, number, rest };
}

function attributeText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
