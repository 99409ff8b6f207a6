import { type AvroCodecs, resolveBatch, type TelemetryPing } from '@waypost/contracts';
import { type PlainOutcome, type PlainPing, plainRules } from '../../support/plain-rules.js';
import type { LogRecord } from '../shared/committed-log.js';

/** A record that has to be in quarantine: where it lies in the input, and why it was refused. */
export interface ExpectedRejection {
  readonly partition: number;
  readonly offset: number;
  readonly reason: string;
}

export interface Expected {
  readonly outcome: PlainOutcome;
  readonly rejections: readonly ExpectedRejection[];
  /** Where a device's pings lie, and so where everything about it has to be. */
  readonly partitionOf: ReadonlyMap<string, number>;
}

const FUTURE_MS = 5 * 60_000;

/** What the rules make of the input as it lies in the log, by the oracle that shares no code with the product. */
export async function expectedOf(input: readonly LogRecord[], codecs: AvroCodecs): Promise<Expected> {
  await resolveBatch(codecs.telemetryPings, input);
  const pings: PlainPing[] = [];
  const rejections: ExpectedRejection[] = [];
  const partitionOf = new Map<string, number>();
  for (const { partition, offset, value } of input) {
    const decoded = codecs.telemetryPings.decode(value ?? Buffer.alloc(0));
    if (decoded.type !== 'decoded') {
      rejections.push({ partition, offset, reason: decoded.type });
      continue;
    }
    const ping = decoded.value;
    partitionOf.set(ping.deviceId, partition);
    if (ping.eventTime > ping.receivedTime + FUTURE_MS) rejections.push({ partition, offset, reason: 'future' });
    pings.push(plainPing(ping));
  }
  return { outcome: plainRules(pings, 'kept'), rejections, partitionOf };
}

function plainPing(ping: TelemetryPing): PlainPing {
  const { deviceId, eventTime, receivedTime, latitude, longitude, speedInKmh, ignition } = ping;
  return {
    deviceId,
    eventTime: new Date(eventTime).toISOString(),
    receivedTime: new Date(receivedTime).toISOString(),
    ...(latitude === null ? {} : { latitude }),
    ...(longitude === null ? {} : { longitude }),
    ...(speedInKmh === null ? {} : { speedKmh: speedInKmh }),
    ...(ignition === null ? {} : { ignition }),
  };
}
