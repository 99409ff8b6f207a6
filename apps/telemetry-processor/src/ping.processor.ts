import { resolveBatch, type AvroCodecs } from '@waypost/contracts';
import {
  checkPing,
  checkPingOfKnownDevice,
  decidePing,
  evolveDevice,
  type DeviceState,
  type FleetEvent,
  type FleetGeofences,
  type GeofenceView,
  type PingCheck,
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
import { createFleetFinder } from './geofences/fleet-finder.js';
import type { GeofenceDirectory } from './geofences/geofence-directory.js';
import type { PingMetrics } from './ping-metrics.js';
import { createPingRecordReader } from './read-ping.js';
import { rejectedRecord, type Rejection } from './rejected-record.js';
import { settingsOf, type RuleSet } from './rule-set.js';

export interface PingProcessorParts {
  readonly context: ProcessorContext<{ readonly devices: CompactStore<DeviceState> }, 'events' | 'rejected'>;
  readonly codecs: AvroCodecs;
  readonly geofences: Pick<GeofenceDirectory, 'fleet' | 'fleetCount' | 'caughtUp'>;
  readonly metrics: PingMetrics;
  readonly rules: RuleSet;
}

/** The rules at work on one partition of pings: each becomes events, or is quarantined with its original bytes. */
export const createPingProcessor = (parts: PingProcessorParts): Processor => {
  const { context, codecs, geofences, metrics, rules } = parts;
  const settings = settingsOf(rules);
  const devices = context.store('devices');
  const deviceKey = new KeyBuilder();
  const readPing = createPingRecordReader(codecs);
  const viewOf = viewsOf(parts);
  const { reject, emit } = outputsOf(parts);

  const apply = (record: StreamRecord, ping: TelemetryPing): void => {
    const state = (writeDeviceKey(deviceKey, ping) && devices.get(deviceKey)) || null;
    const check = checkAgain(state, record, ping);
    if (check.type !== 'valid') {
      reject(record, check);
      return;
    }
    const decision = decidePing(state, ping, settings, viewOf(record, ping));
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
    // Every version that a ping of the batch sees is in the topic by now (decision 0028).
    beforeBatch: () => (rules === 'all' ? geofences.caughtUp() : Promise.resolve()),
    prepare: (records) => resolveBatch(codecs.telemetryPings, records),
    process: (record) => {
      const read = readPing(record);
      if (read.type === 'rejected') reject(record, read);
      else apply(record, read.ping);
    },
  };
};

/** Ids that have a state were checked when its first ping came. */
const checkAgain = (state: DeviceState | null, record: StreamRecord, ping: TelemetryPing): PingCheck =>
  state !== null && hasKeyOfDevice(record, ping)
    ? checkPingOfKnownDevice(ping)
    : checkPing(ping, record.key?.toString() ?? null);

/** The geofences that a ping sees; null: the rules do not look at any. */
const viewsOf = ({ geofences, rules }: PingProcessorParts) => {
  const findFleet = createFleetFinder(geofences);
  /** One object for all pings: nobody keeps it. */
  const view: { fleet: FleetGeofences | undefined; at: number } = { fleet: undefined, at: 0 };
  return ({ timestamp }: StreamRecord, ping: TelemetryPing): GeofenceView | null => {
    if (rules !== 'all') return null;
    view.fleet = findFleet(ping);
    view.at = timestamp;
    return view;
  };
};

const outputsOf = ({ context, codecs, metrics }: PingProcessorParts) => ({
  reject: (record: StreamRecord, rejection: Rejection): void => {
    metrics.pingDecided('rejected');
    const value = codecs.telemetryRejected.encode(rejectedRecord(context, record, rejection));
    context.forward('rejected', { key: record.key, value });
  },
  emit: (event: FleetEvent, key: Buffer | null): void => {
    metrics.eventEmitted(event.eventType);
    context.forward('events', { key, value: codecs.fleetEvents.encodeRange(event) });
  },
});
