import { type AvroCodecs, resolveBatch } from '@waypost/contracts';
import { draftEvent, type FleetEvent, type TelemetryPing } from '@waypost/domain';
import { documentedResourceId } from '../../support/documented-event-id.js';
import type { PlainFenceRecord } from '../../support/plain-geofences.js';
import {
  type PlainEvent,
  type PlainOrigin,
  type PlainOutcome,
  type PlainPing,
  plainRules,
} from '../../support/plain-rules.js';
import type { LogRecord } from '../shared/committed-log.js';

/** A record that has to be in quarantine: where it lies in the input, and why it was refused. */
export interface ExpectedRejection {
  readonly record: LogRecord;
  readonly reason: string;
}

/** As it lies in the log. */
export interface FleetSetup {
  readonly fleetId: string;
  readonly routes: boolean;
  readonly fences: readonly (PlainFenceRecord & { readonly name: string })[];
}

export interface ExpectedFleet {
  readonly fleetId: string;
  readonly hasRoutes: boolean;
  readonly outcome: PlainOutcome;
  /** When the newest ping with a valid fix of a device was appended. */
  readonly seenAt: ReadonlyMap<string, number>;
}

export interface Expected {
  readonly fleets: readonly ExpectedFleet[];
  /** Of one fleet after the other, in the order of the outcome, with every field. */
  readonly events: readonly FleetEvent[];
  readonly rejections: readonly ExpectedRejection[];
  /** Where a device's pings lie, and so where everything about it has to be. */
  readonly partitionOf: ReadonlyMap<string, number>;
}

const FUTURE_MS = 5 * 60_000;

/** What the rules make of the input as it lies in the log, by the oracle that shares no code with the product. */
export async function expectedOf(
  input: readonly LogRecord[],
  codecs: AvroCodecs,
  setups: readonly FleetSetup[],
): Promise<Expected> {
  await resolveBatch(codecs.telemetryPings, input);
  const pings = new Map<PlainPing, TelemetryPing>();
  const rejections: ExpectedRejection[] = [];
  const partitionOf = new Map<string, number>();
  for (const record of input) {
    const decoded = codecs.telemetryPings.decode(record.value ?? Buffer.alloc(0));
    if (decoded.type !== 'decoded') {
      rejections.push({ record, reason: decoded.type });
      continue;
    }
    const ping = decoded.value;
    partitionOf.set(ping.deviceId, record.partition);
    const latest = Math.min(ping.receivedTime, record.timestamp) + FUTURE_MS;
    if (ping.eventTime > latest) rejections.push({ record, reason: 'future' });
    pings.set(plainPing(ping, record.timestamp), ping);
  }
  const all = setups.map((setup) => expectedOfFleet(setup, pings));
  const events = all.flatMap((one) => one.events);
  return { fleets: all.map(({ fleet }) => fleet), events, rejections, partitionOf };
}

/** What other fleets report has no part in it. */
function expectedOfFleet(
  { fleetId, routes, fences }: FleetSetup,
  all: ReadonlyMap<PlainPing, TelemetryPing>,
): { readonly fleet: ExpectedFleet; readonly events: readonly FleetEvent[] } {
  const pings = new Map([...all].filter(([, ping]) => ping.fleetId === fleetId));
  const outcome = plainRules([...pings.keys()], 'kept', fences);
  const names = new Map(fences.map(({ geofenceId, name }) => [geofenceId, name]));
  const makeId = documentedResourceId();
  const events = outcome.events.flatMap((event) => {
    const origin = outcome.origins.get(event);
    const ping = origin && pings.get(origin.ping);
    if (origin === undefined || ping === undefined) return [];
    if (origin.trip !== undefined) return routes ? [tripEvent(origin, ping, makeId)] : [];
    return [{ ...measured(event, origin, ping), ...fenceFields(event, names) }];
  });
  const seenAt = new Map<string, number>();
  for (const plain of outcome.fixedPings) seenAt.set(plain.deviceId, plain.appendedAt ?? 0);
  return { fleet: { fleetId, hasRoutes: routes, outcome, seenAt }, events };
}

function plainPing(ping: TelemetryPing, appendedAt: number): PlainPing {
  const { deviceId, eventTime, receivedTime, positionValid, latitude, longitude, speedInKmh, ignition } = ping;
  return {
    deviceId,
    appendedAt,
    positionValid,
    eventTime: new Date(eventTime).toISOString(),
    receivedTime: new Date(receivedTime).toISOString(),
    ...(latitude === null ? {} : { latitude }),
    ...(longitude === null ? {} : { longitude }),
    ...(speedInKmh === null ? {} : { speedKmh: speedInKmh }),
    ...(ignition === null ? {} : { ignition }),
  };
}

/** the ping's own measurements, and the last valid fix with its time when that is older. */
function measured(event: PlainEvent, { ignition, fix }: PlainOrigin, ping: TelemetryPing): FleetEvent {
  const { altitudeInMeters, speedInKmh, heading, odometerInMeters, batteryVoltage } = ping;
  return {
    ...draftEvent(ping.fleetId, ping.deviceId, event.eventType, ping.eventTime),
    ...textsOf(ping),
    latitude: fix?.latitude ?? null,
    longitude: fix?.longitude ?? null,
    ignition: ignition ?? null,
    locationTime: fix === undefined || fix.time === ping.eventTime ? null : fix.time,
    altitudeInMeters,
    speedInKmh: speedInKmh !== null && speedInKmh >= 0 ? speedInKmh : null,
    heading,
    odometerInMeters,
    batteryVoltage,
    connectionType: ping.connectionType || null,
    rpm: ping.rpm,
    fuelLevel: ping.fuelLevel,
  };
}

/** an empty text is not reported. */
function textsOf({ vehicleId, licensePlate, driverId }: TelemetryPing) {
  return { vehicleId: vehicleId || null, licensePlate: licensePlate || null, driverId: driverId || null };
}

function fenceFields({ geofenceId, enteredAt, eventTime }: PlainEvent, names: ReadonlyMap<string, string>) {
  if (geofenceId === undefined) return {};
  const durationInSeconds = enteredAt === undefined ? null : (Date.parse(eventTime) - enteredAt) / 1_000;
  return {
    resourceId: geofenceId,
    geofenceId,
    geofenceName: names.get(geofenceId) ?? null,
    enteredAt: enteredAt ?? null,
    durationInSeconds,
  };
}

function tripEvent(
  { trip }: PlainOrigin,
  ping: TelemetryPing,
  makeId: ReturnType<typeof documentedResourceId>,
): FleetEvent {
  if (trip === undefined) throw new Error('Not an event of a route or stop.');
  const { eventType, eventTime, startTime, place, placeTime, figures } = trip;
  const { fleetId, deviceId } = ping;
  const kind = eventType.startsWith('route') ? 'route' : 'stop';
  const resourceId = makeId(fleetId, deviceId, kind, new Date(startTime).toISOString());
  const { latitude, longitude } = place;
  const isOver = eventType.endsWith('_finished');
  return {
    ...draftEvent(fleetId, deviceId, eventType, eventTime),
    resourceId,
    ...textsOf(ping),
    latitude,
    longitude,
    locationTime: placeTime < eventTime ? placeTime : null,
    startTime,
    ...(kind === 'route' ? { routeId: resourceId } : { activityId: resourceId }),
    ...(eventType === 'route_started' ? { startLocation: { latitude, longitude } } : {}),
    ...(isOver ? { endTime: eventTime, durationInSeconds: (eventTime - startTime) / 1_000 } : {}),
    ...(eventType === 'route_finished' && figures !== undefined
      ? {
          startLocation: { latitude: figures.from.latitude, longitude: figures.from.longitude },
          endLocation: { latitude, longitude },
          distanceInMeters: figures.meters,
          maxSpeedInKmh: figures.maxSpeed ?? null,
          idleTimeInSeconds: figures.idleMs === undefined ? null : figures.idleMs / 1_000,
          endReason: figures.endReason,
        }
      : {}),
  };
}
