import { Kafka, logLevel, Partitioners } from 'kafkajs';
import type { RunningWaypost } from '../support/running-waypost.js';
import { pingEncoder, wireHeader } from './ping-encoder.js';

const topic = 'telemetry.pings';
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
      ['unknown_schema', Buffer.concat([wireHeader(UNKNOWN_SCHEMA_ID), Buffer.from('whatever it means')])],
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
