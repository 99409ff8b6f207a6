import { createHash } from 'node:crypto';
import { type AvroCodecs, resolveBatch } from '@waypost/contracts';
import type { DeviceState, FleetEvent, Geofence } from '@waypost/domain';
import { groupBy } from '../../support/group-by.js';
import type { PlainShape } from '../../support/plain-geofences.js';
import type { PlainTripEvent } from '../../support/plain-routes.js';
import type { PlainDevice } from '../../support/plain-rules.js';
import { codecsOf, type LogRecord, readTopic } from '../shared/committed-log.js';
import type { Log } from '../shared/stage.js';
import { compareByKey, compareValues } from './compare.js';
import { type Expected, type ExpectedFleet, expectedOf, type FleetSetup } from './expected.js';

export interface JudgeOptions extends Log {
  /** Records that the brokers have confirmed to the publisher. */
  readonly published: number;
  /** Default: true. */
  readonly secondReader?: boolean;
  /** Devices whose events come from elsewhere; default: none. */
  readonly isForeign?: (deviceId: string) => boolean;
  /** How much of each partition the processors have had; default: everything. */
  readonly processed?: ReadonlyMap<number, number>;
}

export interface Judgment {
  readonly pings: number;
  readonly events: number;
  readonly rejections: number;
  readonly devices: number;
  /** Empty: the committed output is that of an undisturbed run. */
  readonly problems: readonly string[];
}

const TOPICS = [
  ...(['telemetryPings', 'fleetEvents', 'telemetryRejected', 'deviceState'] as const),
  ...(['fleetSettings', 'fleetGeofences'] as const),
];

/** Compares everything that was committed with what the rules make of the input. */
export async function judge(options: JudgeOptions): Promise<Judgment> {
  const { published, secondReader = true, isForeign = () => false, processed } = options;
  const codecs = codecsOf(options);
  const problems: string[] = [];
  const [input, events, rejections, changelog, settings, geofences] = await Promise.all(
    TOPICS.map((topic) => readTopic(options, topic, { problems, secondReader })),
  );
  if (!input || !events || !rejections || !changelog || !settings || !geofences)
    throw new Error('Six topics were read.');
  if (input.length < published)
    problems.push(`the publisher was confirmed ${String(published)} records, the log holds ${String(input.length)}`);
  const setups = await setupsIn(settings, geofences, codecs);
  const own = events.filter(({ key }) => !isForeign(key?.toString() ?? ''));
  let devices = 0;
  // A task knows its partition only: so has the oracle to.
  for (const partition of partitionsIn(input, own, rejections, changelog)) {
    const end = processed === undefined ? Infinity : (processed.get(partition) ?? 0);
    const of = (log: readonly LogRecord[]): LogRecord[] => log.filter((record) => record.partition === partition);
    const had = of(input).filter(({ offset }) => offset < end);
    const expected = await expectedOf(had, codecs, setups);
    const states = await foldedStates(of(changelog), codecs);
    devices += states.size;
    problems.push(
      ...(await judgeEvents(of(own), expected, codecs)),
      ...(await judgeRejections(of(rejections), expected, codecs)),
      ...compareValues('state', states, expectedStates(expected)),
    );
  }
  return { pings: input.length, events: events.length, rejections: rejections.length, devices, problems };
}

function partitionsIn(...logs: readonly (readonly LogRecord[])[]): Set<number> {
  return new Set(logs.flatMap((log) => log.map(({ partition }) => partition)));
}

/** By device and in the order of the log; an event in a foreign partition counts as unexpected. */
async function judgeEvents(log: readonly LogRecord[], expected: Expected, codecs: AvroCodecs): Promise<string[]> {
  await resolveBatch(codecs.fleetEvents, log);
  const lines = (events: readonly { device: string; line: string }[]): Map<string, string[]> =>
    new Map([...groupBy(events, ({ device }) => device)].map(([id, group]) => [id, group.map(({ line }) => line)]));
  const distances: string[] = [];
  const wantedOf = new Map(expected.events.map((event) => [eventName(event), event]));
  const actual = log.map(({ partition, key, value }) => {
    const decoded = codecs.fleetEvents.decode(value ?? Buffer.alloc(0));
    if (decoded.type !== 'decoded') return { device: key?.toString() ?? '', line: decoded.type };
    const event = decoded.value;
    const wanted = wantedOf.get(eventName(event));
    if (wanted !== undefined && !isNearly(event, wanted))
      distances.push(
        `${eventName(event)}: ${String(event.distanceInMeters)} m at ${String(event.averageSpeedInKmh)} km/h`,
      );
    return { device: deviceName(event), line: eventLine(partition, event) };
  });
  const wanted = expected.events.map((event) => ({
    device: deviceName(event),
    line: eventLine(expected.partitionOf.get(event.deviceId) ?? -1, event),
  }));
  const problems = compareByKey('events', lines(actual), lines(wanted));
  return distances.length === 0
    ? problems
    : [...problems, `distances or speeds of routes: ${distances.slice(0, 4).join('; ')}`];
}

async function judgeRejections(log: readonly LogRecord[], expected: Expected, codecs: AvroCodecs): Promise<string[]> {
  await resolveBatch(codecs.telemetryRejected, log);
  const actual = log.map(({ partition, value }) => {
    const decoded = codecs.telemetryRejected.decode(value ?? Buffer.alloc(0));
    if (decoded.type !== 'decoded') return { partition, line: decoded.type };
    const { sourcePartition, sourceOffset, sourceTimestamp, sourceKey, sourceValue, reason } = decoded.value;
    const source = { partition: sourcePartition, offset: sourceOffset, timestamp: sourceTimestamp };
    return { partition, line: rejectionLine({ ...source, key: sourceKey, value: sourceValue }, reason) };
  });
  const wanted = expected.rejections.map(({ record, reason }) => ({
    partition: record.partition,
    line: rejectionLine(record, reason),
  }));
  const lines = (list: readonly { partition: number; line: string }[]): Map<string, string[]> =>
    new Map(
      [...groupBy(list, (one) => String(one.partition))].map(([name, group]) => [name, group.map((g) => g.line)]),
    );
  return compareByKey('rejections in partition', lines(actual), lines(wanted));
}

/** the original bytes, where they come from, and why. */
function rejectionLine(
  { partition, offset, timestamp, key, value }: Omit<LogRecord, 'traceparent'>,
  reason: string,
): string {
  const bytes = createHash('sha256')
    .update(value ?? '')
    .digest('hex')
    .slice(0, 16);
  return `${String(partition)}/${String(offset)} at ${String(timestamp)} ${String(key)} ${bytes} ${reason}`;
}

/** Two fleets may have devices of one id. */
function deviceName({ fleetId, deviceId }: Pick<FleetEvent, 'fleetId' | 'deviceId'>): string {
  return `${fleetId} ${deviceId}`;
}

function eventName(event: FleetEvent): string {
  const { eventType, eventTime, resourceId } = event;
  return `${deviceName(event)} ${eventType} ${String(eventTime)} ${String(resourceId)}`;
}

/** Every field; but for the distance and what follows from it, which another library measures a little differently. */
function eventLine(partition: number, event: FleetEvent): string {
  const { eventType, eventTime, distanceInMeters, averageSpeedInKmh, ...fields } = event;
  const known = Object.entries(fields).filter(([, value]) => value !== null);
  const sorted = known.sort(([a], [b]) => (a < b ? -1 : 1));
  const measured = distanceInMeters === null ? '' : ' with a distance';
  return `${eventType} ${new Date(eventTime).toISOString()} in ${String(partition)}${measured}: ${JSON.stringify(Object.fromEntries(sorted))}`;
}

const DISTANCE_TOLERANCE = 0.005;

function isNearly(event: FleetEvent, { distanceInMeters: wanted, durationInSeconds: seconds }: FleetEvent): boolean {
  if (wanted === null || seconds === null) return event.distanceInMeters === null;
  const apart = Math.abs((event.distanceInMeters ?? Infinity) - wanted);
  const speed = (wanted / seconds) * 3.6;
  const fasterBy = Math.abs((event.averageSpeedInKmh ?? Infinity) - speed);
  return apart <= 1 + wanted * DISTANCE_TOLERANCE && fasterBy <= 0.1 + speed * DISTANCE_TOLERANCE;
}

/** Settings and geofences as they lie in the log, which has one version of each. */
async function setupsIn(
  settings: readonly LogRecord[],
  geofences: readonly LogRecord[],
  codecs: AvroCodecs,
): Promise<FleetSetup[]> {
  await Promise.all([resolveBatch(codecs.fleetSettings, settings), resolveBatch(codecs.fleetGeofences, geofences)]);
  const fences = geofences.flatMap(({ value, timestamp: appendedAt }) => {
    const decoded = codecs.fleetGeofences.decode(value ?? Buffer.alloc(0));
    if (decoded.type !== 'decoded') return [];
    const { fleetId, geofenceId, name } = decoded.value;
    return [{ fleetId, appendedAt, geofenceId, name, shape: shapeOf(decoded.value) }];
  });
  return settings.flatMap(({ value }) => {
    const decoded = codecs.fleetSettings.decode(value ?? Buffer.alloc(0));
    if (decoded.type !== 'decoded') return [];
    const { fleetId, routes } = decoded.value;
    return [{ fleetId, routes, fences: fences.filter((fence) => fence.fleetId === fleetId) }];
  });
}

/** The traffic makes circles, and rectangles along the meridians. */
function shapeOf({ circle, polygon }: Pick<Geofence, 'circle' | 'polygon'>): PlainShape {
  if (circle !== null) {
    const { latitude, longitude, radiusInMeters: radius } = circle;
    return { type: 'circle', latitude, longitude, radius };
  }
  const corners = polygon?.rings.flat() ?? [];
  const [latitudes, longitudes] = [corners.map(({ latitude }) => latitude), corners.map(({ longitude }) => longitude)];
  return {
    type: 'rectangle',
    ...{ south: Math.min(...latitudes), north: Math.max(...latitudes) },
    ...{ west: Math.min(...longitudes), east: Math.max(...longitudes) },
  };
}

/** The changelog folded to its end: the last value of each key, in one line each. */
async function foldedStates(changelog: readonly LogRecord[], codecs: AvroCodecs): Promise<Map<string, string>> {
  await resolveBatch(codecs.deviceState, changelog);
  const last = new Map<string, LogRecord>();
  for (const record of changelog) last.set(record.key?.toString() ?? '', record);
  const states = new Map<string, string>();
  for (const [key, { partition, value }] of last) {
    if (value === null) continue;
    const decoded = codecs.deviceState.decode(value);
    if (decoded.type !== 'decoded') {
      states.set(key, decoded.type);
      continue;
    }
    states.set(key, stateLine(partition, decoded.value));
  }
  return states;
}

function expectedStates({ fleets, partitionOf }: Pick<Expected, 'fleets' | 'partitionOf'>): Map<string, string> {
  return new Map(fleets.flatMap((fleet) => [...statesOf(fleet, partitionOf)]));
}

function statesOf(
  { fleetId, hasRoutes, outcome, seenAt }: ExpectedFleet,
  partitionOf: Expected['partitionOf'],
): Map<string, string> {
  const states = new Map<string, string>();
  for (const [deviceId, device] of outcome.devices) {
    const { newest, ignition = null, lastSent = null, armed, fix, inside, trip } = device;
    const visits = [...inside].map(([geofenceId, { enteredAt = null, beyond }]) => ({
      geofenceId,
      enteredAt,
      leavingSince: beyond[0] ?? null,
      leavingFixes: beyond.length,
    }));
    const line = stateLine(partitionOf.get(deviceId) ?? -1, {
      newestEventTime: newest,
      ignition,
      lastSentTime: lastSent,
      armed,
      fixTime: fix?.time ?? null,
      latitude: fix?.latitude ?? null,
      longitude: fix?.longitude ?? null,
      geofences: fix === undefined ? null : { seenAt: seenAt.get(deviceId) ?? 0, visits },
      trip: fix === undefined || !hasRoutes ? null : tripOf(trip, device.firstFix),
    });
    states.set(`${fleetId}\u001f${deviceId}`, line);
  }
  return states;
}

type TripPart = Pick<NonNullable<DeviceState['trip']>, 'since' | 'latitude' | 'longitude'> & {
  readonly route: unknown;
};

function tripOf(trip: PlainTripEvent | undefined, firstFix: PlainDevice['fix']): TripPart {
  if (trip === undefined) return { since: null, ...placeOf(firstFix), route: null };
  return { since: trip.startTime, ...placeOf(trip.place), route: trip.eventType === 'route_started' ? {} : null };
}

function placeOf(place: { readonly latitude: number; readonly longitude: number } | undefined) {
  return { latitude: place?.latitude ?? NaN, longitude: place?.longitude ?? NaN };
}

/** Every field but the figures of a route under way, which show in its end. */
function stateLine(
  partition: number,
  { trip, geofences, ...state }: Omit<DeviceState, 'trip'> & { readonly trip: TripPart | null },
): string {
  const byId = (a: { geofenceId: string }, b: { geofenceId: string }): number => (a.geofenceId < b.geofenceId ? -1 : 1);
  const visits = [...(geofences?.visits ?? [])].sort(byId).map((visit) => Object.entries(visit).sort());
  const { newestEventTime, ignition, lastSentTime, armed, fixTime, latitude, longitude } = state;
  const values = [newestEventTime, ignition, lastSentTime, armed, fixTime, latitude, longitude];
  const where = trip === null ? null : [trip.since, trip.latitude, trip.longitude, trip.route !== null];
  return `partition ${String(partition)}: ${JSON.stringify([...values, geofences?.seenAt ?? null, visits, where])}`;
}
