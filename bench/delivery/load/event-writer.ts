import { type AvroCodecs, createAvroCodecs, createSchemaRegistry, topics } from '@waypost/contracts';
import { draftEvent, type FleetEvent, type TelemetryPing } from '@waypost/domain';
import { connectKafka } from '@waypost/streams/admin';
import { EVENT_DIGITS, EVENT_MARK } from '../sink/origin.js';
import type { Target } from './messages.js';

export interface NumberedEvent {
  readonly number: number;
  readonly target: Target;
}

/** Commits events as a producer of fleet.events would, without transactions: appended is committed. */
export interface EventWriter {
  /** Resolves with the time of the append of each event, in the given order. */
  write(events: readonly NumberedEvent[], to: WritePlan): Promise<readonly number[]>;
  close(): Promise<void>;
}

export interface WritePlan {
  readonly topic: string;
  readonly records: 'events' | 'pings';
  readonly sentMs: number;
}

export interface WriterOptions {
  readonly brokers: readonly string[];
  readonly registryUrl: string;
}

export async function openEventWriter(options: WriterOptions): Promise<EventWriter> {
  const codecs = createAvroCodecs({ registry: createSchemaRegistry({ url: options.registryUrl }) });
  await Promise.all([codecs.fleetEvents.prepare(), codecs.telemetryPings.prepare()]);
  const kafka = connectKafka({ brokers: options.brokers, clientId: 'bench-load' });
  const admin = kafka.admin();
  await admin.connect();
  const partitions = (await admin.fetchTopicOffsets(topics.fleetEvents.name)).length;
  await admin.disconnect();
  const producer = kafka.producer({ allowAutoTopicCreation: false });
  await producer.connect();

  const templates = new Map<string, EventTemplate>();
  const templateOf = (target: Target, records: WritePlan['records']): EventTemplate => {
    const key = `${records} ${target.fleetId} ${target.eventType}`;
    const make = () =>
      records === 'pings'
        ? createPingTemplate(codecs.telemetryPings, target)
        : createEventTemplate(codecs.fleetEvents, target);
    const known = templates.get(key) ?? make();
    templates.set(key, known);
    return known;
  };

  return {
    async write(events, { topic, records, sentMs }) {
      const messages = events.map(({ number, target }) => ({
        partition: number % partitions,
        key: deviceIdOf(number),
        value: templateOf(target, records)(number, sentMs),
      }));
      const appended = await producer.send({ topic, acks: -1, messages });
      const times = new Map(appended.map(({ partition, logAppendTime }) => [partition, Number(logAppendTime)]));
      return messages.map(({ partition }) => times.get(partition) ?? NaN);
    },
    close: () => producer.disconnect(),
  };
}

/** With it a body of the format v1 has about 1,000 bytes. */
const PADDING = 'driver-'.padEnd(520, '0123456789');
const SAMPLE_MS = 1_800_000_000_000;
const DIGITS = Buffer.from(EVENT_MARK.padEnd(EVENT_MARK.length + EVENT_DIGITS, '0'));

function deviceIdOf(event: number): string {
  return `${EVENT_MARK}${String(event).padStart(EVENT_DIGITS, '0')}`;
}

/** Values of fleet.events for one target: encoded once, then number and time are written over. */
export type EventTemplate = (event: number, timeMs: number) => Buffer;

export function createEventTemplate(codec: AvroCodecs['fleetEvents'], target: Target): EventTemplate {
  return templateFrom(codec.encode(sampleEvent(target, SAMPLE_MS)));
}

export function createPingTemplate(codec: AvroCodecs['telemetryPings'], target: Target): EventTemplate {
  return templateFrom(codec.encode(samplePing(target, SAMPLE_MS)));
}

function templateFrom(sample: Buffer): EventTemplate {
  const numberAt = sample.indexOf(DIGITS) + EVENT_MARK.length;
  const time = zigZagVarint(SAMPLE_MS);
  const timesAt: number[] = [];
  for (let at = sample.indexOf(time, numberAt); at >= 0; at = sample.indexOf(time, at + 1)) timesAt.push(at);
  return (event, timeMs) => {
    const varint = zigZagVarint(timeMs);
    if (varint.length !== time.length) throw new RangeError('This time does not fit into the template.');
    const value = Buffer.from(sample);
    value.write(String(event).padStart(EVENT_DIGITS, '0'), numberAt, 'latin1');
    for (const at of timesAt) value.set(varint, at);
    return value;
  };
}

/** Avro's long, of a number that is not negative. */
function zigZagVarint(value: number): Buffer {
  const bytes: number[] = [];
  let left = value * 2;
  for (; left >= 128; left = Math.floor(left / 128)) bytes.push((left % 128) + 128);
  return Buffer.from([...bytes, left]);
}

function sampleEvent(target: Target, eventTime: number): FleetEvent {
  return { ...draftEvent(target.fleetId, deviceIdOf(0), target.eventType, eventTime), ...MEASURED };
}

function samplePing({ fleetId }: Target, eventTime: number): TelemetryPing {
  const ids = { fleetId, deviceId: deviceIdOf(0), eventTime, receivedTime: eventTime };
  const unknown = { satellites: null, hdop: null, sequence: null, buffered: false, attributes: {} };
  return { ...ids, positionValid: true, ...MEASURED, ...unknown };
}

const MEASURED = {
  vehicleId: 'vehicle-1',
  licensePlate: 'AB-CD 1234',
  driverId: PADDING,
  latitude: 48.13743,
  longitude: 11.57549,
  altitudeInMeters: 519,
  speedInKmh: 43.2,
  heading: 271.5,
  ignition: true,
  odometerInMeters: 123_456_789,
  batteryVoltage: 13.8,
  connectionType: 'lte',
  rpm: 1_850,
  fuelLevel: 61.5,
};
