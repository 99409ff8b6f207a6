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
import { createRulesOfPings, type AppliedRules } from './applied-rules.js';
import { hasKeyOfDevice, writeDeviceKey } from './device-key.js';
import type { FleetDirectory } from './fleets/fleet-directory.js';
import type { PingMetrics } from './ping-metrics.js';
import { quietMoveOf } from './quiet-ping.js';
import { createPingRecordReader } from './read-ping.js';
import { rejectedRecord, type Rejection } from './rejected-record.js';
import type { RuleSet } from './rule-set.js';
import { StoredDeviceState } from './stored-device-state.js';

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

  /** Most pings make no event, and need no more than this (decision 0032). */
  const takeQuietly = (state: StoredDeviceState, ping: TelemetryPing, applied: AppliedRules): boolean => {
    const move = quietMoveOf(state, ping, applied);
    if (move === null) return false;
    metrics.pingDecided('accepted');
    devices.put(deviceKey, state.movedBy(move));
    return true;
  };

  const apply = (record: StreamRecord, ping: TelemetryPing): void => {
    const state = (writeDeviceKey(deviceKey, ping) && devices.get(deviceKey)) || null;
    const check = checkAgain(state, record, ping);
    if (check.type !== 'valid') {
      reject(record, check);
      return;
    }
    const applied = rulesOfPings.of(record, ping);
    if (state instanceof StoredDeviceState && takeQuietly(state, ping, applied)) return;
    const decision = decidePing(state, ping, applied.settings, applied.view);
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
