import {
  checkPing,
  decidePing,
  evolveDevice,
  type DeviceState,
  type FleetEvent,
  type GeofenceHistory,
  type RuleSettings,
  type TelemetryPing,
} from '@waypost/domain';

/** A ping as it lies in the log. */
export interface RecordedPing {
  readonly partition: number;
  /** Broker time, epoch milliseconds: decides which geofences it sees. */
  readonly appendedAt: number;
  readonly key: string | null;
  readonly ping: TelemetryPing;
}

/** The rules over recorded pings, as telemetry-processor applies them: to be fed in the order of each partition. */
export interface RuleRun {
  /** The events of the ping, in their order. */
  take(recorded: RecordedPing): readonly FleetEvent[];
}

const NOTHING: readonly FleetEvent[] = [];

export function createRuleRun(settings: RuleSettings, geofences: Pick<GeofenceHistory, 'fleet'>): RuleRun {
  const devices = new Map<string, DeviceState>();
  return {
    take({ partition, appendedAt, key, ping }) {
      if (checkPing(ping, key).type !== 'valid') return NOTHING;
      // Each partition has a state of its own, also of a device that a producer has put into two.
      const device = `${String(partition)}\u001f${ping.fleetId}\u001f${ping.deviceId}`;
      const state = devices.get(device) ?? null;
      const view = { fleet: geofences.fleet(ping.fleetId), at: appendedAt };
      const decision = decidePing(state, ping, settings, view);
      if (decision.type !== 'accepted') return NOTHING;
      devices.set(device, evolveDevice(state, ping, decision));
      return decision.events;
    },
  };
}
