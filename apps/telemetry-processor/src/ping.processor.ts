import { resolveBatch, type AvroCodecs } from '@waypost/contracts';
import {
  checkPing,
  decidePing,
  evolveDevice,
  type DeviceState,
  type FleetEvent,
  type TelemetryPing,
} from '@waypost/domain';
import type { Processor, ProcessorContext, StreamRecord } from '@waypost/streams';
import { deviceKey } from './device-state.store.js';
import type { PingMetrics } from './ping-metrics.js';
import { rejectedRecord, type Rejection } from './rejected-record.js';

export interface PingProcessorParts {
  readonly context: ProcessorContext;
  readonly codecs: AvroCodecs;
  readonly metrics: PingMetrics;
}

type ReadPing = { readonly type: 'ping'; readonly ping: TelemetryPing } | ({ readonly type: 'rejected' } & Rejection);

/** The rules at work on one partition of pings: each becomes events, or is quarantined with its original bytes. */
export const createPingProcessor = ({ context, codecs, metrics }: PingProcessorParts): Processor => {
  const devices = context.store<DeviceState>('devices');

  const reject = (record: StreamRecord, rejection: Rejection): void => {
    metrics.pingDecided('rejected');
    const value = codecs.telemetryRejected.encode(rejectedRecord(context, record, rejection));
    context.forward('rejected', { key: record.key, value });
  };

  const emit = (event: FleetEvent, key: Buffer | null): void => {
    metrics.eventEmitted(event.eventType);
    context.forward('events', { key, value: codecs.fleetEvents.encode(event) });
  };

  const apply = (record: StreamRecord, ping: TelemetryPing): void => {
    const key = deviceKey(ping.fleetId, ping.deviceId);
    const state = devices.get(key) ?? null;
    const decision = decidePing(state, ping);
    if (decision.type === 'rejected') {
      reject(record, decision);
      return;
    }
    metrics.pingDecided(decision.type);
    if (decision.type !== 'accepted') return;
    devices.put(key, evolveDevice(state, ping, decision));
    for (const event of decision.events) emit(event, record.key);
  };

  return {
    prepare: (records) => resolveBatch(codecs.telemetryPings, records),
    process: (record) => {
      const read = readPing(codecs, record);
      if (read.type === 'rejected') reject(record, read);
      else apply(record, read.ping);
    },
  };
};

const readPing = (codecs: AvroCodecs, { key, value }: StreamRecord): ReadPing => {
  if (!value) return { type: 'rejected', reason: 'malformed', detail: 'the record has no value' };
  const decoded = codecs.telemetryPings.decode(value);
  switch (decoded.type) {
    case 'decoded': {
      const check = checkPing(decoded.value, key ? key.toString() : null);
      return check.type === 'valid' ? { type: 'ping', ping: decoded.value } : { ...check, type: 'rejected' };
    }
    case 'malformed':
      return { type: 'rejected', reason: 'malformed', detail: decoded.detail };
    case 'unknown_schema':
      return { type: 'rejected', reason: 'unknown_schema', detail: `schema id ${String(decoded.id)}` };
    case 'incompatible_schema':
      return { type: 'rejected', reason: 'incompatible_schema', detail: decoded.detail };
    case 'unresolved':
      throw new Error(`Schema id ${String(decoded.id)} was not looked up before its record was processed.`);
  }
};
