import { createHash } from 'node:crypto';
import { topics } from '@waypost/contracts';
import { draftEvent, type FleetEvent } from '@waypost/domain';
import { openRecordPublisher } from '@waypost/platform/without-nest';
import { groupBy } from '../../support/group-by.js';
import { codecsOf } from '../shared/committed-log.js';
import type { Log } from '../shared/stage.js';
import { startSteadyWriter } from '../shared/steady-writer.js';
import {
  CHANGED_DEVICES,
  CHANGED_FLEET,
  CHANGED_OTHER_TYPE,
  changedDevice,
  PARKED_FLEET,
} from './changed-subscribers.js';
import { changeNowAndThen } from './changes.js';
import type { SettingsVersion } from './judge/observations.js';
import { replayNowAndThen, type RequestedReplay } from './replays.js';
import {
  deviceId,
  DEVICES_OF_A_FLEET,
  EVENT_TYPE,
  fleetIds,
  OTHER_TYPES,
  OUTAGE_FLEET,
  type Subscriber,
  wants,
} from './subscribers.js';

export interface TrafficOptions extends Log {
  readonly deliveriesPerSecond: number;
  readonly subscribers: readonly Subscriber[];
  readonly now: () => number;
  /** Lets the endpoints of FIXED accept; null: nothing is replayed. */
  readonly fix: (() => Promise<unknown>) | null;
}

export interface Sent {
  readonly events: number;
  /** Without those of the subscriptions that were changed. */
  readonly deliveries: number;
  /** Of the subscriptions that were changed. */
  readonly versions: readonly SettingsVersion[];
  readonly replays: readonly RequestedReplay[];
}

export interface Traffic {
  readonly sent: () => number;
  /** Resolves when nothing is being written; the returned function lets it go on. An event may not be in the log twice. */
  hold(): Promise<() => void>;
  /** Resolves when the broker has all events, with what has to come of them. */
  stop(): Promise<Sent>;
}

const TICK_MS = 25;
/** Events of one device that come at once, as after a gap in its connection. */
const BURST = 3;
/** Of the fleet whose subscriptions are changed, whatever the others have. */
const CHANGED_EVENTS_PER_SECOND = 9;
/** More than one subscription may have in memory. */
const PARKED_EVENTS = 640;

/** Events at a steady rate, whatever becomes of them, for each fleet in turn; some subscriptions are changed now and then. */
export async function startTraffic(options: TrafficOptions): Promise<Traffic> {
  const { kafka, deliveriesPerSecond, subscribers, now } = options;
  const codec = codecsOf(options).fleetEvents;
  await codec.prepare();
  const publisher = await openRecordPublisher(kafka, topics.fleetEvents.name);
  const certain = subscribers.filter(({ change }) => change === null);
  const hasChanged = certain.length < subscribers.length;
  const hasOutage = subscribers.some(({ behavior }) => behavior === 'outage');
  const fleets = hasOutage ? [...fleetIds, OUTAGE_FLEET] : fleetIds;
  const nextEvent = eventsOf(now, createTurns(fleets, hasChanged ? deliveriesPerSecond : null));
  const wanting = groupBy(certain, ({ subscription }) => subscription.fleetId);
  let deliveries = 0;
  const gate = createGate();
  const publish = (events: readonly FleetEvent[]): Promise<void> => {
    const records = events.map((event) => ({
      key: Buffer.from(event.deviceId),
      value: codec.encode(event),
      headers: traceHeadersOf(event),
    }));
    return gate.pass(() => publisher.publish(records));
  };
  const writer = startSteadyWriter({
    perSecond: deliveriesPerSecond,
    tickMs: TICK_MS,
    mostAtOnce: 1_000,
    write: (count) => {
      const events = Array.from({ length: count }, nextEvent);
      for (const event of events)
        deliveries += (wanting.get(event.fleetId) ?? []).filter((one) => wants(one, event)).length;
      return publish(events);
    },
  });
  const stopping = new AbortController();
  let parked = 0;
  const onChanged = async (): Promise<void> => {
    if (!hasChanged) return;
    await publish(Array.from({ length: PARKED_EVENTS }, (_, index) => parkedEvent(parked + index, now())));
    parked += PARKED_EVENTS;
  };
  const pass: Gate['pass'] = (work) => gate.pass(work);
  const changing = changeNowAndThen({ ...options, pass, onChanged }, stopping.signal);
  const { fix } = options;
  const replaying = fix === null ? Promise.resolve([]) : replayNowAndThen({ ...options, fix, pass }, stopping.signal);
  return {
    sent: writer.written,
    hold: () => gate.hold(),
    async stop() {
      stopping.abort();
      const [versions, replays] = await Promise.all([changing, replaying]);
      await writer.stop();
      await publisher.close();
      return { events: writer.written() + parked, deliveries, versions, replays };
    },
  };
}

interface Gate {
  /** Does the work, now or when the gate is open again. */
  pass(work: () => Promise<void>): Promise<void>;
  /** Resolves when no work is under way. */
  hold(): Promise<() => void>;
}

function createGate(): Gate {
  const passing = new Set<Promise<void>>();
  let opened: Promise<void> = Promise.resolve();
  return {
    async pass(work) {
      await opened;
      const passed = work();
      passing.add(passed);
      await passed.finally(() => passing.delete(passed));
    },
    async hold() {
      let open: () => void = () => undefined;
      opened = new Promise((resolve) => (open = resolve));
      await Promise.allSettled(passing);
      return open;
    },
  };
}

/** Which device has the next burst of events. */
interface Turn {
  readonly fleetId: string;
  readonly device: string;
  /** What is not a position; null: all are. */
  readonly otherType: string | null;
}

/** Each fleet in turn, and now and then the one that is changed; null: never that. */
function createTurns(fleets: readonly string[], eventsPerSecond: number | null): () => Turn {
  const every = eventsPerSecond === null ? Infinity : Math.ceil(eventsPerSecond / CHANGED_EVENTS_PER_SECOND);
  let [taken, ofChanged] = [0, 0];
  return () => {
    taken += 1;
    if (taken % every === 0) {
      const device = changedDevice(ofChanged % CHANGED_DEVICES);
      ofChanged += 1;
      return { fleetId: CHANGED_FLEET, device, otherType: CHANGED_OTHER_TYPE };
    }
    const turn = taken - 1 - ofChanged;
    const fleet = turn % fleets.length;
    const fleetId = fleets[fleet] ?? '';
    const device = deviceId(fleetId, Math.floor(turn / fleets.length) % DEVICES_OF_A_FLEET);
    return { fleetId, device, otherType: fleet < 10 ? (OTHER_TYPES[fleet % OTHER_TYPES.length] ?? null) : null };
  };
}

/** Each device in turn has a burst of positions, and some fleets also other events with fields of their own. */
function eventsOf(now: () => number, nextTurn: () => Turn): () => FleetEvent {
  const newest = new Map<string, number>();
  let turn = nextTurn();
  let made = 0;
  return () => {
    if (made > 0 && made % BURST === 0) turn = nextTurn();
    const { fleetId, device, otherType } = turn;
    const eventTime = Math.max(now(), (newest.get(device) ?? 0) + 1);
    newest.set(device, eventTime);
    const eventType = made % BURST === BURST - 1 ? (otherType ?? EVENT_TYPE) : EVENT_TYPE;
    made += 1;
    return eventOf(fleetId, device, eventType, eventTime, made);
  };
}

/** Each device has its own in turn. */
function parkedEvent(number: number, nowMs: number): FleetEvent {
  const turn = Math.floor(number / DEVICES_OF_A_FLEET);
  return eventOf(PARKED_FLEET, deviceId(PARKED_FLEET, number % DEVICES_OF_A_FLEET), EVENT_TYPE, nowMs + turn, number);
}

function eventOf(fleetId: string, device: string, eventType: string, eventTime: number, number: number): FleetEvent {
  const place = { latitude: 48 + (number % 1_000) / 1_000, longitude: 11.5 };
  return {
    ...draftEvent(fleetId, device, eventType, eventTime),
    ...place,
    vehicleId: number % 3 === 0 ? null : `vehicle ${String(number)} "Žluťoučký"`,
    speedInKmh: number % 140,
    heading: 271.5,
    altitudeInMeters: number % 6 === 0 ? null : -3.5,
    rpm: number % 4 === 0 ? 0 : 1_850,
    fuelLevel: number % 8 === 0 ? null : number % 101,
    licensePlate: number % 5 === 1 ? 'WP 1 "Ü"' : null,
    driverId: number % 5 === 2 ? `driver-${String(number)}` : null,
    locationTime: number % 9 === 0 ? eventTime - 5_000 : null,
    // A reported 0 or false is known, and stays.
    ignition: number % 2 === 0,
    odometerInMeters: number % 5 === 0 ? 0 : number * 137,
    batteryVoltage: 13.8,
    connectionType: number % 7 === 0 ? null : 'lte',
    ...(eventType === 'geofence_out'
      ? {
          resourceId: 'fence-1',
          geofenceId: 'fence-1',
          geofenceName: 'Depot',
          enteredAt: eventTime - 60_000,
          durationInSeconds: 60,
        }
      : {}),
    ...(eventType === 'route_finished'
      ? {
          resourceId: 'route-1',
          routeId: 'route-1',
          startTime: eventTime - 600_000,
          startLocation: place,
          endTime: eventTime,
          endLocation: place,
          distanceInMeters: 4_321,
          durationInSeconds: 600,
          maxSpeedInKmh: 88,
          averageSpeedInKmh: 25.9,
          idleTimeInSeconds: 0,
          endReason: 'stationary',
        }
      : {}),
  };
}

/** Most are in a trace already, half of these in a sampled one. */
function traceHeadersOf({ deviceId: device, eventTime }: FleetEvent): Record<string, string> {
  if (eventTime % 4 === 0) return {};
  const digits = createHash('sha256')
    .update(`${device} ${String(eventTime)}`)
    .digest('hex');
  return { traceparent: `00-${digits.slice(0, 32)}-${digits.slice(32, 48)}-0${String(eventTime % 2)}` };
}
