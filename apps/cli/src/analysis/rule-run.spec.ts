import { describe, expect, it } from '@jest/globals';
import {
  createFleetSettingsHistory,
  createGeofenceHistory,
  DEFAULT_RULE_SETTINGS,
  type FleetSettingsHistory,
  type TelemetryPing,
} from '@waypost/domain';
import { NOON, pingOf } from '../../../../test/support/samples.js';
import { createRuleRun, currentRules, type RecordedPing, type RunStep } from './rule-run.js';

function recorded(fields: Partial<TelemetryPing>, partition = 0): RecordedPing {
  const ping = pingOf(fields);
  return { partition, appendedAt: ping.receivedTime, key: ping.deviceId, ping };
}

const geofences = createGeofenceHistory();
function run(settings = DEFAULT_RULE_SETTINGS) {
  return createRuleRun({ ...currentRules(geofences), settings });
}
function typesOf({ events }: RunStep): string[] {
  return events.map(({ eventType }) => eventType);
}

describe('A run of the rules over recorded pings', () => {
  it('remembers each device, as the processor does', () => {
    const rules = run();
    expect(typesOf(rules.take(recorded({})))).toEqual(['position']);
    expect(typesOf(rules.take(recorded({ eventTime: NOON + 179_999 })))).toEqual([]);
    expect(typesOf(rules.take(recorded({ eventTime: NOON + 180_000 })))).toEqual(['position']);
  });

  it('produces no events for pings that the processor rejects', () => {
    const rules = run();
    expect(typesOf(rules.take({ ...recorded({}), key: 'another device' }))).toEqual([]);
    expect(typesOf(rules.take(recorded({ eventTime: NOON, receivedTime: NOON - 300_001 })))).toEqual([]);
    const ahead = recorded({ eventTime: NOON + 3_600_000, receivedTime: NOON + 3_600_000 });
    expect(typesOf(rules.take({ ...ahead, appendedAt: NOON }))).toEqual([]);
    expect(typesOf(rules.take(recorded({})))).toEqual(['position']);
  });

  it('leaves out routes when the processor was run without them', () => {
    const drive = [0, 1, 2].map((minute) => recorded({ eventTime: NOON + minute * 60_000, speedInKmh: 50 }));
    const typesOfRun = (rules: 'all' | 'positions'): string[] => {
      const one = createRuleRun(currentRules(geofences, { rules }));
      return drive.flatMap((ping) => typesOf(one.take(ping)));
    };
    expect(typesOfRun('all')).toEqual(['position', 'route_started']);
    expect(typesOfRun('positions')).toEqual(['position']);
  });

  it('has routes for the fleets that wanted them when the ping was appended, or for every fleet', () => {
    const drive = [0, 1, 2, 3].map((minute) =>
      recorded({ eventTime: NOON + minute * 60_000, receivedTime: NOON + minute * 60_000, speedInKmh: 50 }),
    );
    const typesOfRun = (fleetSettings: FleetSettingsHistory | null): string[] => {
      const one = createRuleRun(currentRules(geofences, { fleetSettings }));
      return drive.map((ping) => typesOf(one.take(ping)).join(' '));
    };
    const from = (appendedAt: number): FleetSettingsHistory => {
      const history = createFleetSettingsHistory();
      const fleet = { fleetId: 'fleet-1', name: null, payloadFormat: 'v1', routes: true };
      history.record('fleet-1', { ...fleet, version: 1, createdAt: 0, updatedAt: 0 }, appendedAt);
      return history;
    };
    // A route is known with the second ping that moves.
    expect(typesOfRun(null)).toEqual(['position', 'route_started', '', 'position']);
    expect(typesOfRun(from(NOON))).toEqual(['position', 'route_started', '', 'position']);
    expect(typesOfRun(from(NOON + 1))).toEqual(['position', '', 'route_started', 'position']);
    expect(typesOfRun(from(NOON + 120_001))).toEqual(['position', '', '', 'position']);
    expect(typesOfRun(createFleetSettingsHistory())).toEqual(['position', '', '', 'position']);
  });

  it('keeps separate state for a device found in two partitions', () => {
    const rules = run();
    expect(typesOf(rules.take(recorded({}, 0)))).toEqual(['position']);
    expect(typesOf(rules.take(recorded({ eventTime: NOON + 1_000 }, 1)))).toEqual(['position']);
  });
});
