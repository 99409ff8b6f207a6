import { resolveBatch, type AvroCodecs } from '@waypost/contracts';
import {
  checkPing,
  checkPingOfKnownDevice,
  decidePing,
  evolveDevice,
  type DeviceState,
  type FleetEvent,
  type TelemetryPing,
} from '@waypost/domain';
import {
  KeyBuilder,
  type CompactStore,
  type Processor,
  type ProcessorContext,
  type StreamRecord,
} from '@waypost/streams';
import { hasKeyOfDevice, writeDeviceKey } from './device-key.js';
import type { PingMetrics } from './ping-metrics.js';
import { createPingRecordReader } from './read-ping.js';
import { rejectedRecord, type Rejection } from './rejected-record.js';

export interface PingProcessorParts {
  readonly context: ProcessorContext<{ readonly devices: CompactStore<DeviceState> }, 'events' | 'rejected'>;
  readonly codecs: AvroCodecs;
  readonly metrics: PingMetrics;
}

/** The rules at work on one partition of pings: each becomes events, or is quarantined with its original bytes. */
export const createPingProcessor = ({ context, codecs, metrics }: PingProcessorParts): Processor => {
  const devices = context.store('devices');
  const deviceKey = new KeyBuilder();
  const readPing = createPingRecordReader(codecs);

  const reject = (record: StreamRecord, rejection: Rejection): void => {
    metrics.pingDecided('rejected');
    const value = codecs.telemetryRejected.encode(rejectedRecord(context, record, rejection));
    context.forward('rejected', { key: record.key, value });
  };

  const emit = (event: FleetEvent, key: Buffer | null): void => {
    metrics.eventEmitted(event.eventType);
    context.forward('events', { key, value: codecs.fleetEvents.encodeRange(event) });
  };

  const apply = (record: StreamRecord, ping: TelemetryPing): void => {
    const state = (writeDeviceKey(deviceKey, ping) && devices.get(deviceKey)) || null;
    // Ids that have a state were checked when its first ping came.
    const known = state !== null && hasKeyOfDevice(record, ping);
    const check = known ? checkPingOfKnownDevice(ping) : checkPing(ping, record.key?.toString() ?? null);
    if (check.type !== 'valid') {
      reject(record, check);
      return;
    }
    const decision = decidePing(state, ping);
    if (decision.type === 'rejected') {
      reject(record, decision);
      return;
    }
    metrics.pingDecided(decision.type);
    if (decision.type !== 'accepted') return;
    devices.put(deviceKey, evolveDevice(state, ping, decision));
    for (const event of decision.events) emit(event, record.key);
  };

  return {
    prepare: (records) => resolveBatch(codecs.telemetryPings, records),
    process: (record) => {
      const read = readPing(record);
      if (read.type === 'rejected') reject(record, read);
      else apply(record, read.ping);
    },
  };
};
