import type { TelemetryPing } from '@waypost/domain';
import { AvroCursor } from '../avro/avro-cursor.js';
import {
  afterOptionalDouble,
  afterOptionalInt,
  afterOptionalLong,
  afterOptionalText,
  NOT_PLAIN,
} from '../avro/plain-avro.js';
import type { DecodeResult, SubjectCodec } from './subject-codec.js';

/**
 * A ping that decodes only the fields that every rule reads. The rest, including the texts of the ids, is decoded on
 * first access: nine pings in ten make no event and never need it. All bytes are checked, so a ping that breaks its
 * schema is refused before it is used.
 *
 * It is a view: `bytes` must not change while it is in use.
 */
export class LazyTelemetryPing implements TelemetryPing {
  readonly fleetIdStart: number;
  readonly fleetIdEnd: number;
  readonly deviceIdStart: number;
  readonly deviceIdEnd: number;
  readonly eventTime: number;
  readonly receivedTime: number;
  readonly positionValid: boolean;
  readonly latitude: number | null;
  readonly longitude: number | null;
  readonly speedInKmh: number | null;
  readonly ignition: boolean | null;
  private whole: TelemetryPing | null = null;

  /**
   * @param bytes contain the ping in Avro, without the wire header, from `start` to `end`
   * @throws RangeError for bytes that are not a ping
   */
  constructor(
    private readonly cursor: AvroCursor,
    readonly bytes: Buffer,
    private readonly start: number,
    private readonly end: number,
  ) {
    cursor.reset(bytes, start, end);
    this.fleetIdStart = cursor.skipString();
    this.fleetIdEnd = cursor.at;
    this.deviceIdStart = cursor.skipString();
    this.deviceIdEnd = cursor.at;
    this.eventTime = cursor.long();
    this.receivedTime = cursor.long();
    this.positionValid = cursor.boolean();
    this.latitude = cursor.optionalDouble();
    this.longitude = cursor.optionalDouble();
    cursor.skipOptionalDouble();
    this.speedInKmh = cursor.optionalDouble();
    cursor.skipOptionalDouble();
    cursor.skipOptionalInt();
    cursor.skipOptionalDouble();
    this.ignition = cursor.optionalBoolean();
    if (!endsPlainly(bytes, cursor.at, end)) skipFromOdometer(cursor);
  }

  get fleetId(): string {
    return this.rest().fleetId;
  }

  get deviceId(): string {
    return this.rest().deviceId;
  }

  get altitudeInMeters(): number | null {
    return this.rest().altitudeInMeters;
  }

  get heading(): number | null {
    return this.rest().heading;
  }

  get satellites(): number | null {
    return this.rest().satellites;
  }

  get hdop(): number | null {
    return this.rest().hdop;
  }

  get odometerInMeters(): number | null {
    return this.rest().odometerInMeters;
  }

  get rpm(): number | null {
    return this.rest().rpm;
  }

  get fuelLevel(): number | null {
    return this.rest().fuelLevel;
  }

  get batteryVoltage(): number | null {
    return this.rest().batteryVoltage;
  }

  get connectionType(): string | null {
    return this.rest().connectionType;
  }

  get vehicleId(): string | null {
    return this.rest().vehicleId;
  }

  get licensePlate(): string | null {
    return this.rest().licensePlate;
  }

  get driverId(): string | null {
    return this.rest().driverId;
  }

  get sequence(): number | null {
    return this.rest().sequence;
  }

  get buffered(): boolean {
    return this.rest().buffered;
  }

  get attributes(): Readonly<Record<string, string>> {
    return this.rest().attributes;
  }

  private rest(): TelemetryPing {
    if (this.whole) return this.whole;
    this.cursor.reset(this.bytes, this.start, this.end);
    return (this.whole = readTelemetryPing(this.cursor));
  }
}

/** Whether everything from the odometer on has the usual encoding, without attributes, and ends with the ping. */
function endsPlainly(bytes: Buffer, start: number, end: number): boolean {
  const textsAt = afterNumbers(bytes, start);
  if (textsAt === NOT_PLAIN) return false;
  const sequenceAt = afterTexts(bytes, textsAt);
  if (sequenceAt === NOT_PLAIN) return false;
  const bufferedAt = afterOptionalLong(bytes, sequenceAt);
  // `buffered` is one byte, whatever its value; the map after it must be empty.
  return bufferedAt !== NOT_PLAIN && bufferedAt + 2 === end && bytes[bufferedAt + 1] === 0;
}

/** odometerInMeters, rpm, fuelLevel and batteryVoltage. Never reads at NOT_PLAIN: an index of -1 is slow. */
function afterNumbers(bytes: Buffer, start: number): number {
  let at = afterOptionalLong(bytes, start);
  if (at !== NOT_PLAIN) at = afterOptionalInt(bytes, at);
  if (at !== NOT_PLAIN) at = afterOptionalDouble(bytes, at);
  return at === NOT_PLAIN ? NOT_PLAIN : afterOptionalDouble(bytes, at);
}

/** connectionType, vehicleId, licensePlate and driverId. */
function afterTexts(bytes: Buffer, start: number): number {
  let at = afterOptionalText(bytes, start);
  if (at !== NOT_PLAIN) at = afterOptionalText(bytes, at);
  if (at !== NOT_PLAIN) at = afterOptionalText(bytes, at);
  return at === NOT_PLAIN ? NOT_PLAIN : afterOptionalText(bytes, at);
}

function skipFromOdometer(cursor: AvroCursor): void {
  cursor.reportedLong();
  cursor.skipOptionalInt();
  cursor.skipOptionalDouble();
  cursor.skipOptionalDouble();
  cursor.skipOptionalString();
  cursor.skipOptionalString();
  cursor.skipOptionalString();
  cursor.skipOptionalString();
  cursor.reportedLong();
  cursor.boolean();
  cursor.skipStringMap();
  cursor.expectEnd();
}

/** Fields in the order of the schema, which is the order of the bytes; the spec beside this file compares it with avsc. */
function readTelemetryPing(cursor: AvroCursor): TelemetryPing {
  return {
    fleetId: cursor.string(),
    deviceId: cursor.string(),
    eventTime: cursor.long(),
    receivedTime: cursor.long(),
    positionValid: cursor.boolean(),
    latitude: cursor.optionalDouble(),
    longitude: cursor.optionalDouble(),
    altitudeInMeters: cursor.optionalDouble(),
    speedInKmh: cursor.optionalDouble(),
    heading: cursor.optionalDouble(),
    satellites: cursor.optionalInt(),
    hdop: cursor.optionalDouble(),
    ignition: cursor.optionalBoolean(),
    odometerInMeters: cursor.reportedLong(),
    rpm: cursor.optionalInt(),
    fuelLevel: cursor.optionalDouble(),
    batteryVoltage: cursor.optionalDouble(),
    connectionType: cursor.optionalString(),
    vehicleId: cursor.optionalString(),
    licensePlate: cursor.optionalString(),
    driverId: cursor.optionalString(),
    sequence: cursor.reportedLong(),
    buffered: cursor.boolean(),
    attributes: cursor.stringMap(),
  };
}

/**
 * Decodes the ping from `start` to `end` of `bytes`. A ping written with our own version of the schema becomes a
 * `LazyTelemetryPing`, at a fifth of the cost; other versions become a plain object. The results are the same.
 */
export type PingReader = (bytes: Buffer, start: number, end: number) => DecodeResult<TelemetryPing>;

export function createPingReader(codec: SubjectCodec<TelemetryPing>): PingReader {
  const cursor = new AvroCursor();
  const readOwn = (bytes: Buffer, start: number, end: number): TelemetryPing =>
    new LazyTelemetryPing(cursor, bytes, start, end);
  return (bytes, start, end) => codec.decodeRange(bytes, start, end, readOwn);
}
