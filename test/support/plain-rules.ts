import { type Inside, type PlainFenceRecord, type PlainFix, plainGeofences } from './plain-geofences.js';
import { plainRoutes, type PlainTripEvent, type TrackPing } from './plain-routes.js';

/**
 * The rules, with from plain-geofences.ts and plain-routes.ts, a second time, as plainly as they
 * are written: what the product must make of a list of pings.
 * It shares no code with the product, so that a mistake in one of them shows.
 */

/** What of a line of a track file the rules look at. */
export interface PlainPing {
  readonly deviceId: string;
  readonly eventTime: string;
  readonly receivedTime?: string;
  /** When its record was appended. Default: eventTime. */
  readonly appendedAt?: number;
  /** Default: true. */
  readonly positionValid?: boolean;
  readonly latitude?: number;
  readonly longitude?: number;
  readonly speedKmh?: number;
  readonly ignition?: boolean;
}

export interface PlainEvent {
  readonly deviceId: string;
  readonly eventType: string;
  /** ISO 8601, UTC, three decimals, Z. */
  readonly eventTime: string;
  /** Of events of routes and stops: when that began, which with the device is what its id is made of. */
  readonly startTime?: string;
  readonly geofenceId?: string;
  /** Of geofence_out: epoch ms. */
  readonly enteredAt?: number;
}

/** What an event is made of. */
export interface PlainOrigin {
  readonly ping: PlainPing;
  readonly ignition: boolean | undefined;
  /** The last valid one, that of the ping included. */
  readonly fix: PlainDevice['fix'];
  /** Of events of routes and stops. */
  readonly trip?: PlainTripEvent;
}

/** What is remembered of a device in the end. */
export interface PlainDevice {
  readonly newest: number;
  readonly ignition: boolean | undefined;
  readonly lastSent: number | undefined;
  /** An ignition change waits for its position. */
  readonly armed: boolean;
  /** The last valid one. */
  readonly fix: { readonly time: number; readonly latitude: number; readonly longitude: number } | undefined;
  /** The stop in which the device was first seen. */
  readonly firstFix: PlainDevice['fix'];
  /** By geofenceId. */
  readonly inside: Map<string, Inside>;
  /** The last event of a route or stop; undefined: it is where it was first seen. */
  readonly trip: PlainTripEvent | undefined;
}

export interface PlainOutcome {
  readonly events: readonly PlainEvent[];
  readonly origins: ReadonlyMap<PlainEvent, PlainOrigin>;
  readonly devices: ReadonlyMap<string, PlainDevice>;
  /** Those with a valid fix that were neither late nor repeated. */
  readonly fixedPings: readonly PlainPing[];
  readonly droppedByWindow: number;
  readonly lateOrDuplicate: number;
  readonly invalidFix: number;
  readonly future: number;
  readonly expired: number;
}

/** The events of one ping, around those of routes and stops, which are known when the whole track is. */
interface Slot {
  readonly deviceId: string;
  readonly time: number;
  readonly ignition: PlainEvent[];
  readonly position: PlainEvent[];
  readonly fences: PlainEvent[];
  readonly fix: PlainFix | undefined;
  readonly origin: PlainOrigin;
}

type DeviceMemory = { -readonly [Name in keyof PlainDevice]: PlainDevice[Name] };

const minute = 60_000;
const day = 24 * 60 * minute;

export function plainRules(
  pings: readonly PlainPing[],
  receivedTime: 'kept' | 'as eventTime',
  fences: readonly PlainFenceRecord[] = [],
): PlainOutcome {
  const devices = new Map<string, DeviceMemory>();
  const tracks = new Map<string, TrackPing[]>();
  const slots: Slot[] = [];
  const fixedPings: PlainPing[] = [];
  const outcome = { devices, fixedPings, droppedByWindow: 0, lateOrDuplicate: 0, invalidFix: 0, future: 0, expired: 0 };

  for (const ping of pings) {
    const time = Date.parse(ping.eventTime);
    const received = receivedTime === 'kept' ? Date.parse(ping.receivedTime ?? ping.eventTime) : time;
    //
    const appended = ping.appendedAt ?? time;
    if (time > received + 5 * minute || time > appended + 5 * minute) {
      outcome.future += 1;
      continue;
    }
    if (time < received - 15 * day) {
      outcome.expired += 1;
      continue;
    }

    //
    let device = devices.get(ping.deviceId);
    if (device !== undefined && time <= device.newest) {
      outcome.lateOrDuplicate += 1;
      continue;
    }
    if (device === undefined) {
      device = {
        newest: time,
        ignition: undefined,
        lastSent: undefined,
        armed: false,
        fix: undefined,
        firstFix: undefined,
        inside: new Map(),
        trip: undefined,
      };
      devices.set(ping.deviceId, device);
    }
    device.newest = time;
    const event = (eventType: string): PlainEvent => ({ deviceId: ping.deviceId, eventType, eventTime: iso(time) });
    const track = tracks.get(ping.deviceId) ?? [];
    tracks.set(ping.deviceId, track);
    track.push({ time, fix: hasFix(ping) ? ping : undefined, speed: ping.speedKmh, ignition: ping.ignition });

    const before = device.ignition;
    device.ignition = ping.ignition ?? before;
    //
    if (hasFix(ping)) device.fix = { time, latitude: ping.latitude, longitude: ping.longitude };
    device.firstFix ??= device.fix;
    const slot: Slot = {
      deviceId: ping.deviceId,
      time,
      ignition: [],
      position: [],
      fences: [],
      fix: hasFix(ping) ? { appendedAt: ping.appendedAt ?? time, time, ...placeOf(ping) } : undefined,
      origin: { ping, ignition: device.ignition, fix: device.fix },
    };
    slots.push(slot);

    //
    if (ping.ignition !== undefined && before !== undefined && before !== ping.ignition) {
      slot.ignition.push(event(ping.ignition ? 'ignition_on' : 'ignition_off'));
      device.armed = true;
    }

    if (!hasFix(ping)) {
      outcome.invalidFix += 1;
      continue;
    }
    fixedPings.push(ping);

    //
    if (device.armed || device.lastSent === undefined || time - device.lastSent >= 180_000) {
      slot.position.push(event(device.ignition === false ? 'position_sleep' : 'position'));
      device.lastSent = time;
      device.armed = false;
    } else {
      outcome.droppedByWindow += 1;
    }
  }
  if (fences.length > 0) addGeofences(slots, fences, devices);
  return { ...outcome, ...inOrder(slots, tracks, devices) };
}

/** R-8, device by device. */
function addGeofences(
  slots: readonly Slot[],
  fences: readonly PlainFenceRecord[],
  devices: ReadonlyMap<string, DeviceMemory>,
): void {
  for (const [deviceId, { inside }] of devices) {
    const fixed = slots.flatMap((slot) => (slot.deviceId === deviceId && slot.fix ? [{ slot, fix: slot.fix }] : []));
    const events = plainGeofences(
      fences,
      fixed.map(({ fix }) => fix),
      inside,
    );
    for (const [index, { slot }] of fixed.entries()) {
      for (const { type, geofenceId, time, enteredAt } of events[index] ?? []) {
        const entered = enteredAt === undefined ? {} : { enteredAt };
        slot.fences.push({ deviceId, eventType: type, eventTime: iso(time), geofenceId, ...entered });
      }
    }
  }
}

/** */
function inOrder(
  slots: readonly Slot[],
  tracks: ReadonlyMap<string, readonly TrackPing[]>,
  devices: ReadonlyMap<string, DeviceMemory>,
): Pick<PlainOutcome, 'events' | 'origins'> {
  const madeBy = (deviceId: string, time: number): string => `${deviceId} ${String(time)}`;
  const trips = new Map<string, PlainTripEvent[]>();
  for (const [deviceId, track] of tracks) {
    for (const trip of plainRoutes(track)) {
      const key = madeBy(deviceId, trip.madeBy);
      trips.set(key, [...(trips.get(key) ?? []), trip]);
      const device = devices.get(deviceId);
      if (device !== undefined) device.trip = trip;
    }
  }
  const origins = new Map<PlainEvent, PlainOrigin>();
  const events = slots.flatMap(({ deviceId, time, ignition, position, fences, origin }) => {
    const ofTrip = (trips.get(madeBy(deviceId, time)) ?? []).map((trip): PlainEvent => {
      const { eventType, eventTime, startTime } = trip;
      const event = { deviceId, eventType, eventTime: iso(eventTime), startTime: iso(startTime) };
      origins.set(event, { ...origin, trip });
      return event;
    });
    for (const event of [...ignition, ...fences, ...position]) origins.set(event, origin);
    return [...ignition, ...fences, ...ofTrip, ...position];
  });
  return { events, origins };
}

function placeOf({ latitude, longitude }: { readonly latitude: number; readonly longitude: number }) {
  return { latitude, longitude };
}

function iso(time: number): string {
  return new Date(time).toISOString();
}

function hasFix(ping: PlainPing): ping is PlainPing & { readonly latitude: number; readonly longitude: number } {
  const { positionValid = true, latitude, longitude } = ping;
  if (!positionValid || latitude === undefined || longitude === undefined) return false;
  if (latitude < -90 || latitude > 90 || longitude < -180 || longitude > 180) return false;
  return latitude !== 0 || longitude !== 0;
}
