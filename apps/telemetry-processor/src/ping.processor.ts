import { resolveBatch, type AvroCodecs } from '@waypost/contracts';
import {
  checkPing,
  checkPingOfKnownDevice,
  decidePing,
  evolveDevice,
  type DeviceState,
  type FleetEvent,
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
import { createRulesOfPings } from './applied-rules.js';
import { hasKeyOfDevice, writeDeviceKey } from './device-key.js';
import type { FleetDirectory } from './fleets/fleet-directory.js';
import type { PingMetrics } from './ping-metrics.js';
import { createPingRecordReader } from './read-ping.js';
import { rejectedRecord, type Rejection } from './rejected-record.js';
import type { RuleSet } from './rule-set.js';

export interface PingProcessorParts {
  readonly context: ProcessorContext<{ readonly devices: CompactStore<DeviceState> }, 'events' | 'rejected'>;
  readonly codecs: AvroCodecs;
  readonly fleets: Pick<FleetDirectory, 'fleet' | 'knownCount' | 'caughtUp'>;
  readonly metrics: PingMetrics;
  readonly rules: RuleSet;
}

/** The rules at work on one partition of pings: each becomes events, or is quarantined with its original bytes. */
export const createPingProcessor = (parts: PingProcessorParts): Processor => {
  const { context, codecs, fleets, metrics, rules } = parts;
  const devices = context.store('devices');
  const deviceKey = new KeyBuilder();
  const readPing = createPingRecordReader(codecs);
  const rulesOfPings = createRulesOfPings(fleets, rules);
  const { reject, emit } = outputsOf(parts);

  const apply = (record: StreamRecord, ping: TelemetryPing): void => {
    const state = (writeDeviceKey(deviceKey, ping) && devices.get(deviceKey)) || null;
    const check = checkAgain(state, record, ping);
    if (check.type !== 'valid') {
      reject(record, check);
      return;
    }
    const { settings, view } = rulesOfPings.of(record, ping);
    const decision = decidePing(state, ping, settings, view);
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
    // Every version that a ping of the batch sees is in the topic by now (decisions 0028 and 0030).
    beforeBatch: async () => {
      if (rules === 'all') await fleets.caughtUp();
      rulesOfPings.refresh();
    },
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
