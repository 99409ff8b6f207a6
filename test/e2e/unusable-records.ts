import { readFileSync } from 'node:fs';
import avro from 'avsc';
import { Kafka, logLevel, Partitioners } from 'kafkajs';
import type { RunningWaypost } from '../support/running-waypost.js';

const topic = 'telemetry.pings';
const schemaFile = new URL('../../schemas/telemetry.pings-value.avsc', import.meta.url);
const UNKNOWN_SCHEMA_ID = 2_000_000_000;
const HOUR_MS = 3_600_000;

/** A record that nothing can be made of, and where the broker has put it. */
export interface UnusableRecord {
  readonly reason: string;
  readonly key: string;
  readonly bytes: Buffer;
  readonly partition: number;
  readonly offset: number;
}

/** Publishes one of each kind under the key of a device, as a broken producer would. */
export async function publishUnusable(
  waypost: RunningWaypost,
  { fleet, deviceId, nowMs }: { readonly fleet: string; readonly deviceId: string; readonly nowMs: number },
): Promise<UnusableRecord[]> {
  const { brokers, registryUrl } = waypost.info();
  const kafka = new Kafka({ brokers: [...brokers], logLevel: logLevel.NOTHING });
  const producer = kafka.producer({ createPartitioner: Partitioners.DefaultPartitioner });
  await producer.connect();
  try {
    const pingOf = await pingEncoder(registryUrl, { fleet, deviceId });
    const wrongClockMs = Date.now() + HOUR_MS;
    const kinds: [reason: string, bytes: Buffer][] = [
      ['malformed', Buffer.from('a ping, but not in Avro')],
      ['unknown_schema', Buffer.concat([header(UNKNOWN_SCHEMA_ID), Buffer.from('whatever it means')])],
      // One millisecond beyond what R-3 lets pass.
      ['future', pingOf({ eventTime: nowMs + 5 * 60_000 + 1, receivedTime: nowMs })],
      // Later than all pings to come: taken for the newest, it would make them late.
      ['future', pingOf({ eventTime: wrongClockMs, receivedTime: wrongClockMs })],
    ];
    const sent: UnusableRecord[] = [];
    for (const [reason, bytes] of kinds) {
      const [place] = await producer.send({ topic, messages: [{ key: deviceId, value: bytes }] });
      sent.push({ reason, key: deviceId, bytes, partition: place?.partition ?? -1, offset: Number(place?.baseOffset) });
    }
    return sent;
  } finally {
    await producer.disconnect();
  }
}

/** The wire format: a zero byte and the id of the schema come before the Avro bytes. */
function header(schemaId: number): Buffer {
  const bytes = Buffer.alloc(5);
  bytes.writeInt32BE(schemaId, 1);
  return bytes;
}

/** Of pings that are in order but for their times. */
async function pingEncoder(
  registryUrl: string,
  { fleet, deviceId }: { readonly fleet: string; readonly deviceId: string },
): Promise<(times: { readonly eventTime: number; readonly receivedTime: number }) => Buffer> {
  const response = await fetch(`${registryUrl}/subjects/${topic}-value/versions/latest`);
  const { id } = (await response.json()) as { id: number };
  const schema = avro.Type.forSchema(JSON.parse(readFileSync(schemaFile, 'utf8')) as avro.Schema);
  const ping = { fleetId: fleet, deviceId, positionValid: true, latitude: 52.1, longitude: 11.6 };
  return (times) => Buffer.concat([header(id), schema.toBuffer({ ...unreported(schema), ...ping, ...times })]);
}

/** The defaults of the schema's other fields. */
function unreported(schema: avro.Type): Record<string, unknown> {
  const { fields } = schema as avro.types.RecordType;
  return Object.fromEntries(fields.map((field) => [field.name, field.defaultValue()]));
}
