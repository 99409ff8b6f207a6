import { plainRoutes, type TrackPing } from './plain-routes.js';

/**
 * The rules, with R-9 from plain-routes.ts, a second time, as plainly as they are written: what the product must make of a list of pings.
 * It shares no code with the product, so that a mistake in one of them shows.
 */

/** What of a line of a track file the rules look at. */
export interface PlainPing {
  readonly deviceId: string;
  readonly eventTime: string;
  readonly receivedTime?: string;
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
}

export interface PlainOutcome {
  readonly events: readonly PlainEvent[];
  readonly devices: ReadonlyMap<string, PlainDevice>;
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
}

type DeviceMemory = { -readonly [Name in keyof PlainDevice]: PlainDevice[Name] };

const minute = 60_000;
const day = 24 * 60 * minute;

export function plainRules(pings: readonly PlainPing[], receivedTime: 'kept' | 'as eventTime'): PlainOutcome {
  const devices = new Map<string, DeviceMemory>();
  const tracks = new Map<string, TrackPing[]>();
  const slots: Slot[] = [];
  const outcome = { devices, droppedByWindow: 0, lateOrDuplicate: 0, invalidFix: 0, future: 0, expired: 0 };

  for (const ping of pings) {
    const time = Date.parse(ping.eventTime);
    const received = receivedTime === 'kept' ? Date.parse(ping.receivedTime ?? ping.eventTime) : time;
    //
    if (time > received + 5 * minute) {
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
      device = { newest: time, ignition: undefined, lastSent: undefined, armed: false, fix: undefined };
      devices.set(ping.deviceId, device);
    }
    device.newest = time;
    const slot: Slot = { deviceId: ping.deviceId, time, ignition: [], position: [] };
    slots.push(slot);
    const event = (eventType: string): PlainEvent => ({ deviceId: ping.deviceId, eventType, eventTime: iso(time) });
    const track = tracks.get(ping.deviceId) ?? [];
    tracks.set(ping.deviceId, track);
    track.push({ time, fix: hasFix(ping) ? ping : undefined, speed: ping.speedKmh, ignition: ping.ignition });

    //
    if (ping.ignition !== undefined) {
      if (device.ignition !== undefined && device.ignition !== ping.ignition) {
        slot.ignition.push(event(ping.ignition ? 'ignition_on' : 'ignition_off'));
        device.armed = true;
      }
      device.ignition = ping.ignition;
    }

    //
    if (!hasFix(ping)) {
      outcome.invalidFix += 1;
      continue;
    }
    device.fix = { time, latitude: ping.latitude, longitude: ping.longitude };

    //
    if (device.armed || device.lastSent === undefined || time - device.lastSent >= 180_000) {
      slot.position.push(event(device.ignition === false ? 'position_sleep' : 'position'));
      device.lastSent = time;
      device.armed = false;
    } else {
      outcome.droppedByWindow += 1;
    }
  }
  return { ...outcome, events: inOrder(slots, tracks) };
}

function inOrder(slots: readonly Slot[], tracks: ReadonlyMap<string, readonly TrackPing[]>): PlainEvent[] {
  const madeBy = (deviceId: string, time: number): string => `${deviceId} ${String(time)}`;
  const trips = new Map<string, PlainEvent[]>();
  for (const [deviceId, track] of tracks) {
    for (const { madeBy: time, eventType, eventTime, startTime } of plainRoutes(track)) {
      const key = madeBy(deviceId, time);
      const event = { deviceId, eventType, eventTime: iso(eventTime), startTime: iso(startTime) };
      trips.set(key, [...(trips.get(key) ?? []), event]);
    }
  }
  return slots.flatMap(({ deviceId, time, ignition, position }) => [
    ...ignition,
    ...(trips.get(madeBy(deviceId, time)) ?? []),
    ...position,
  ]);
}

function iso(time: number): string {
  return new Date(time).toISOString();
}

function hasFix(ping: PlainPing): ping is PlainPing & { readonly latitude: number; readonly longitude: number } {
  const { latitude, longitude } = ping;
  if (latitude === undefined || longitude === undefined) return false;
  if (latitude < -90 || latitude > 90 || longitude < -180 || longitude > 180) return false;
  return latitude !== 0 || longitude !== 0;
}
