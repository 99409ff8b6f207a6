import { topics } from '@waypost/contracts';
import {
  checkPing,
  createFleetSettingsHistory,
  createGeofenceHistory,
  decidePing,
  DEFAULT_RULE_SETTINGS,
  type DeviceState,
  evolveDevice,
  type FleetEvent,
  type FleetSettings,
  type FleetSettingsHistory,
  type Geofence,
  type GeofenceHistory,
  type GeofenceView,
  isAccepted,
  parseGeofenceKey,
  type RejectedTelemetry,
  type RuleSet,
  type RuleSettings,
  type TelemetryPing,
} from '@waypost/domain';
import type { StackEnvironment } from '../stack/stack-config.js';
import type { LogRange } from '../topic-reading/log-range.js';
import { readTopic, readVersions } from '../topic-reading/read-topic.js';

/** A ping with its position in the log. */
export interface RecordedPing {
  readonly partition: number;
  /** Broker time, epoch milliseconds: no ping is from after it, and it decides which geofences and settings are seen. */
  readonly appendedAt: number;
  readonly key: string | null;
  readonly ping: TelemetryPing;
}

/** What the rules make of a ping. */
export interface RunStep {
  /** In their order. */
  readonly events: readonly FleetEvent[];
  /** The state of the device after the ping. null: nothing was accepted of it yet. */
  readonly state: DeviceState | null;
  readonly accepted: boolean;
}

/** The rules over recorded pings, as telemetry-processor applies them: to be fed in the order of each partition. */
export interface RuleRun {
  take(recorded: RecordedPing): RunStep;
}

export interface RuleRunOptions {
  readonly settings: RuleSettings;
  readonly geofences: Pick<GeofenceHistory, 'fleet'>;
  readonly rules: RuleSet;
  /** Who has routes and stops on (R-9, decision 0030). null: they are looked at for every fleet. */
  readonly fleetSettings: Pick<FleetSettingsHistory, 'fleet'> | null;
}

const NOTHING: readonly FleetEvent[] = [];

/** Each partition has its own state, also of a device that a producer has put into two. */
export function deviceOf(partition: number, { fleetId, deviceId }: Pick<FleetEvent, 'fleetId' | 'deviceId'>): string {
  return `${String(partition)}\u001f${fleetId}\u001f${deviceId}`;
}

export function createRuleRun(options: RuleRunOptions): RuleRun {
  const { geofences, rules } = options;
  const devices = new Map<string, DeviceState>();
  return {
    take(recorded) {
      const { partition, appendedAt, key, ping } = recorded;
      const device = deviceOf(partition, ping);
      const state = devices.get(device) ?? null;
      const ignored: RunStep = { events: NOTHING, state, accepted: false };
      if (checkPing(ping, key).type !== 'valid') return ignored;
      const applied = settingsOf(recorded, options);
      const decision = decidePing(state, ping, appendedAt, applied, rules === 'all' ? viewOf(ping, geofences) : null);
      if (!isAccepted(decision)) return ignored;
      const next = evolveDevice(state, ping, decision);
      devices.set(device, next);
      return { events: decision.events, state: next, accepted: true };
    },
  };
}

/** What a ping is decided by: without routes, unless its fleet wanted them at its time. */
export function settingsOf({ ping, appendedAt }: RecordedPing, options: RuleRunOptions): RuleSettings {
  const { settings, rules, fleetSettings } = options;
  const wanted = fleetSettings === null || fleetSettings.fleet(ping.fleetId)?.at(appendedAt)?.routes === true;
  return rules === 'all' && wanted ? settings : { ...settings, routes: null };
}

export function viewOf({ fleetId }: TelemetryPing, geofences: Pick<GeofenceHistory, 'fleet'>): GeofenceView {
  return { fleet: geofences.fleet(fleetId) };
}

/**
 * Every event that the device still makes is of this time or later, epoch milliseconds: events are of the time of their
 * ping, or of a fix or an ignition change that is remembered.
 */
export function earliestToCome(state: DeviceState): number {
  const { newestEventTime, fixTime, trip } = state;
  const route = trip?.route ?? null;
  return Math.min(
    newestEventTime,
    fixTime ?? Infinity,
    route === null ? Infinity : route.wayTime,
    route?.ignitionOffSince ?? Infinity,
  );
}

/** The rules as they are; by default all of them, with routes for every fleet. */
export function currentRules(
  geofences: RuleRunOptions['geofences'],
  { rules = 'all', fleetSettings = null }: Partial<Pick<RuleRunOptions, 'rules' | 'fleetSettings'>> = {},
): RuleRunOptions {
  return { settings: DEFAULT_RULE_SETTINGS, geofences, rules, fleetSettings };
}

export interface RecordedGeofences {
  /** All versions of all geofences that the topic still has (decision 0028). */
  readonly history: GeofenceHistory;
  /** The ids of all of them, deleted ones too. */
  ids(fleetId: string): readonly string[];
  /** Where versions are that cannot be decoded. */
  readonly unreadable: readonly string[];
}

export async function readGeofences(stack: StackEnvironment): Promise<RecordedGeofences> {
  const history = createGeofenceHistory();
  const ids = new Map<string, Set<string>>();
  const unreadable = await readVersions<Geofence>(stack, topics.fleetGeofences.name, ({ key, value, appendedAt }) => {
    history.record(key, value, appendedAt);
    const { fleetId, geofenceId } = parseGeofenceKey(key);
    ids.set(fleetId, (ids.get(fleetId) ?? new Set()).add(geofenceId));
  });
  return { history, ids: (fleetId) => [...(ids.get(fleetId) ?? [])].sort(), unreadable };
}

export interface RecordedSettings {
  /** All versions of the settings of all fleets that the topic still has (decision 0030). */
  readonly history: FleetSettingsHistory;
  /** Where versions are that cannot be decoded. */
  readonly unreadable: readonly string[];
}

export async function readFleetSettings(stack: StackEnvironment): Promise<RecordedSettings> {
  const history = createFleetSettingsHistory();
  const { name } = topics.fleetSettings;
  const unreadable = await readVersions<FleetSettings>(stack, name, ({ key, value, appendedAt }) => {
    history.record(key, value, appendedAt);
  });
  return { history, unreadable };
}

/** Pings that can be decoded, without those that the processor has quarantined. */
export async function readPings(
  stack: StackEnvironment,
  range: Partial<LogRange>,
  take: (pings: readonly RecordedPing[]) => void,
): Promise<void> {
  const quarantined = await readQuarantined(stack);
  await readTopic(stack, topics.telemetryPings.name, range, (records) => {
    take(
      records.flatMap((record) => {
        const { partition, timestamp: appendedAt, key, value } = record;
        const isLeftOut = value === null || quarantined.has(placeName(partition, record.offset, appendedAt));
        return isLeftOut ? [] : [{ partition, appendedAt, key, ping: value as TelemetryPing }];
      }),
    );
  });
}

/** Why a ping was quarantined that can be read by now; whatever else is unusable stays that, and the rules refuse it again. */
const READABLE_SINCE: ReadonlySet<string> = new Set(['unknown_schema', 'incompatible_schema', 'skipped']);

async function readQuarantined(stack: StackEnvironment): Promise<ReadonlySet<string>> {
  const places = new Set<string>();
  await readTopic(stack, topics.telemetryRejected.name, {}, (records) => {
    for (const { value } of records) {
      const { sourceTopic, reason, ...source } = (value ?? {}) as Partial<RejectedTelemetry>;
      if (sourceTopic !== topics.telemetryPings.name || !READABLE_SINCE.has(reason ?? '')) continue;
      places.add(placeName(source.sourcePartition, source.sourceOffset, source.sourceTimestamp));
    }
  });
  return places;
}

/** The time tells a record from one at the same offset of a topic that was made again. */
function placeName(...place: readonly [partition?: number, offset?: number, appendedAt?: number]): string {
  return place.join(' ');
}
