import { KeyBuilder } from '@waypost/compact-store';
import {
  type AvroCodecs,
  consumerGroups,
  readTraceHeader,
  readTraceState,
  rejectedRecord,
  type Rejection,
  rejectionHeaders,
  resolveBatch,
  traceHeaders,
} from '@waypost/contracts';
import {
  checkPing,
  checkPingOfKnownDevice,
  decidePing,
  type DeviceState,
  evolveDevice,
  type FleetEvent,
  isSampledTrace,
  parseTraceparent,
  type PingCheck,
  type PingDecision,
  type RuleSet,
  type TelemetryPing,
  traceOfPing,
} from '@waypost/domain';
import { type EndedSpan, messageSpan, type Traces } from '@waypost/platform';
import type { Processor, ProcessorContext, StreamRecord } from '@waypost/streams';
import type { FleetDirectory } from '../fleets/fleet-directory.js';
import { createFleetRules, type FleetRules } from '../fleets/fleet-rules.js';
import type { StoredDeviceState } from './device-state.layout.js';
import type { DeviceStore } from './device-state.store.js';
import type { PingMetrics } from './ping-metrics.js';
import { createPingRecordReader, isKeyOfDevice, writeDeviceKey } from './ping-record.js';

type PingContext = ProcessorContext<{ readonly devices: DeviceStore }, 'events' | 'rejected'>;

export interface PingProcessorDeps {
  readonly context: PingContext;
  readonly codecs: AvroCodecs;
  readonly fleets: Pick<FleetDirectory, 'fleet' | 'knownCount' | 'caughtUp'>;
  readonly metrics: PingMetrics;
  readonly rules: RuleSet;
  readonly traces: Traces;
}

/** Applies the rules to one partition of pings: each becomes events, or is quarantined with its original bytes. */
export class PingsProcessor implements Processor {
  private readonly context: PingContext;
  private readonly devices: DeviceStore;
  private readonly readPing: ReturnType<typeof createPingRecordReader>;
  private readonly fleetRules: FleetRules;
  private readonly deviceKey = new KeyBuilder();
  /** When the current slice arrived; 0 without spans. */
  private sliceArrivedAt = 0;

  constructor(private readonly deps: PingProcessorDeps) {
    const { context, codecs, fleets, rules } = deps;
    this.context = context;
    this.devices = context.store('devices');
    this.readPing = createPingRecordReader(codecs);
    this.fleetRules = createFleetRules(fleets, rules);
  }

  /** Waits for every version of geofences and settings that a ping of the batch sees (decisions 0028 and 0030). */
  async beforeBatch(): Promise<void> {
    const { fleets, rules } = this.deps;
    if (rules === 'all') await fleets.caughtUp();
    this.fleetRules.refresh();
  }

  prepare(records: readonly StreamRecord[]): Promise<void> {
    if (this.deps.traces.recorder !== null) this.sliceArrivedAt = this.context.now();
    return resolveBatch(this.deps.codecs.telemetryPings, records);
  }

  process(record: StreamRecord): void {
    const read = this.readPing(record);
    if (read.type === 'rejected') this.reject(record, read);
    else this.take(record, read.value);
  }

  private take(record: StreamRecord, ping: TelemetryPing): void {
    const state = (writeDeviceKey(this.deviceKey, ping) && this.devices.get(this.deviceKey)) || null;
    const check = checkAgain(state, record, ping);
    if (check.type !== 'valid') {
      this.reject(record, check);
      return;
    }
    const { settings, view } = this.fleetRules.of(record, ping);
    this.apply(record, ping, state, decidePing(state, ping, record.timestamp, settings, view));
  }

  private apply(
    record: StreamRecord,
    ping: TelemetryPing,
    state: StoredDeviceState | null,
    decision: PingDecision,
  ): void {
    switch (decision.type) {
      case 'moved':
        this.devices.edit(this.deviceKey)?.move(decision);
        this.deps.metrics.pingDecided('accepted');
        return;
      case 'accepted':
        this.devices.put(this.deviceKey, evolveDevice(state, ping, decision));
        this.deps.metrics.pingDecided('accepted');
        if (decision.events.length > 0) this.emit(record, ping, decision.events);
        return;
      case 'rejected':
        this.reject(record, decision);
        return;
      default:
        this.deps.metrics.pingDecided(decision.type);
    }
  }

  private emit(record: StreamRecord, ping: TelemetryPing, events: readonly FleetEvent[]): void {
    const traceparent = this.traceOf(record, ping);
    const headers = traceHeaders(traceparent, readTraceState(record.headers));
    for (const event of events) {
      // Without the header, readers derive the trace of a ping from the time of the event, for which there is no ping
      // here.
      const isBackdated = traceparent === null && event.eventTime !== ping.eventTime;
      this.deps.metrics.eventEmitted(event.eventType);
      const value = this.deps.codecs.fleetEvents.encodeRange(event);
      this.context.forward('events', {
        key: record.key,
        value,
        headers: isBackdated ? traceHeaders(traceOfPing(ping, null)) : headers,
      });
    }
    const { recorder } = this.deps.traces;
    if (recorder !== null && traceparent !== null && isSampledTrace(traceparent))
      recorder.record(this.spanOf(record, ping, traceparent, events.length));
  }

  /** null: the trace follows from the ping alone, and readers of its events derive it if they need it. */
  private traceOf({ headers }: StreamRecord, ping: TelemetryPing): string | null {
    const { sampleRatio } = this.deps.traces;
    const given = readTraceHeader(headers);
    return given === null && sampleRatio === 0 ? null : traceOfPing(ping, given, sampleRatio);
  }

  /** The span from the arrival of a slice until the events are in the transaction. */
  private spanOf(
    { offset, headers }: StreamRecord,
    { fleetId, deviceId }: TelemetryPing,
    traceparent: string,
    eventCount: number,
  ): EndedSpan {
    const { topic, partition } = this.context;
    const group = consumerGroups.telemetryProcessor.id;
    const { name, attributes } = messageSpan({ operation: 'process', topic, partition, offset, group });
    const ids = { 'waypost.fleet.id': fleetId, 'waypost.device.id': deviceId, 'waypost.event.count': eventCount };
    return {
      name,
      kind: 'consumer',
      startedAt: this.sliceArrivedAt,
      endedAt: this.context.now(),
      context: parseTraceparent(traceparent),
      parent: parseTraceparent(readTraceHeader(headers)),
      attributes: { ...attributes, ...ids },
    };
  }

  private reject(record: StreamRecord, rejection: Rejection): void {
    this.deps.metrics.pingDecided('rejected');
    const value = this.deps.codecs.telemetryRejected.encode(rejectedRecord(this.context, record, rejection));
    this.context.forward('rejected', { key: record.key, value, headers: rejectionHeaders(record.headers) });
  }
}

/** Ids that have a state were checked with the first ping. */
function checkAgain(state: DeviceState | null, record: StreamRecord, ping: TelemetryPing): PingCheck {
  return state !== null && isKeyOfDevice(record, ping)
    ? checkPingOfKnownDevice(ping)
    : checkPing(ping, record.key?.toString() ?? null);
}
