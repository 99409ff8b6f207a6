import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { topics } from '@waypost/contracts';
import { draftEvent, type FleetEvent, type WebhookReplay } from '@waypost/domain';
import { openRecordPublisher } from '@waypost/platform';
import { codecsOf } from '../shared/committed-log.js';
import type { Log } from '../shared/stage.js';
import { startSteadyWriter } from '../shared/steady-writer.js';
import type { Pause } from './judge/observations.js';
import { replayNowAndThen } from './replays.js';
import {
  deviceId,
  DEVICES_OF_A_FLEET,
  EVENT_TYPE,
  fleetIds,
  openSubscriberPublisher,
  OTHER_TYPES,
  PAUSED,
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
  readonly deliveries: number;
  readonly pauses: readonly Pause[];
  readonly replays: readonly WebhookReplay[];
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
const FIRST_PAUSE_AFTER_MS = 1_500;
/** Over before the first fault of a short run, so that what it has held is seen to go on. */
const PAUSE_MS = 3_500;
/** After a pause there is much that waits. */
const CHANGED_AGAIN_AFTER_MS = 2_500;
const BETWEEN_PAUSES_MS = 12_500;

/** Events at a steady rate, whatever becomes of them, for each fleet in turn; some subscriptions are paused now and then. */
export async function startTraffic(options: TrafficOptions): Promise<Traffic> {
  const { kafka, deliveriesPerSecond, subscribers, now } = options;
  const codec = codecsOf(options).fleetEvents;
  await codec.prepare();
  const publisher = await openRecordPublisher(kafka, topics.fleetEvents.name);
  const nextEvent = eventsOf(now);
  const wanting = new Map(fleetIds.map((id) => [id, subscribers.filter((one) => one.subscription.fleetId === id)]));
  let deliveries = 0;
  const gate = createGate();
  const writer = startSteadyWriter({
    perSecond: deliveriesPerSecond,
    tickMs: TICK_MS,
    mostAtOnce: 1_000,
    write: (count) => {
      const events = Array.from({ length: count }, nextEvent);
      for (const event of events)
        deliveries += (wanting.get(event.fleetId) ?? []).filter((one) => wants(one, event)).length;
      const records = events.map((event) => ({
        key: Buffer.from(event.deviceId),
        value: codec.encode(event),
        headers: traceHeadersOf(event),
      }));
      return gate.pass(() => publisher.publish(records));
    },
  });
  const stopping = new AbortController();
  const pausing = pauseNowAndThen(options, gate, stopping.signal);
  const { fix } = options;
  const replaying =
    fix === null
      ? Promise.resolve([])
      : replayNowAndThen({ ...options, fix, pass: (work) => gate.pass(work) }, stopping.signal);
  return {
    sent: writer.written,
    hold: () => gate.hold(),
    async stop() {
      stopping.abort();
      const [pauses, replays] = await Promise.all([pausing, replaying]);
      await writer.stop();
      await publisher.close();
      return { events: writer.written(), deliveries, pauses, replays };
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

/** Each device in turn has a burst of positions, and the first fleets also other events with fields of their own. */
function eventsOf(now: () => number): () => FleetEvent {
  const newest = new Map<string, number>();
  let made = 0;
  return () => {
    const burst = Math.floor(made / BURST);
    const fleet = burst % fleetIds.length;
    const fleetId = fleetIds[fleet] ?? '';
    const device = deviceId(fleetId, Math.floor(burst / fleetIds.length) % DEVICES_OF_A_FLEET);
    const eventTime = Math.max(now(), (newest.get(device) ?? 0) + 1);
    newest.set(device, eventTime);
    const isOther = fleet < 10 && made % BURST === BURST - 1;
    const eventType = isOther ? (OTHER_TYPES[fleet % OTHER_TYPES.length] ?? EVENT_TYPE) : EVENT_TYPE;
    made += 1;
    return eventOf(fleetId, device, eventType, eventTime, made);
  };
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

/** Ends with every subscription active. @returns when they were paused */
async function pauseNowAndThen(options: TrafficOptions, gate: Gate, signal: AbortSignal): Promise<Pause[]> {
  const chosen = PAUSED.flatMap((number) => options.subscribers[number]?.subscription ?? []);
  const pauses: Pause[] = [];
  let version = 1;
  const publisher = await openSubscriberPublisher(options);
  const publish = async (status: string): Promise<number> => {
    version += 1;
    const versions = chosen.map((one) => ({ subscription: { ...one, status, version } }));
    await gate.pass(() => publisher.publish(versions));
    return options.now();
  };
  const wait = (ms: number): Promise<unknown> => sleep(ms, undefined, { signal }).catch(() => undefined);
  await wait(FIRST_PAUSE_AFTER_MS);
  while (!signal.aborted) {
    const fromMs = await publish('paused');
    await wait(PAUSE_MS);
    // Before the record is written: from then on it may be followed.
    const untilMs = options.now();
    await publish('active');
    pauses.push(...chosen.map(({ id: subscriptionId }) => ({ subscriptionId, fromMs, untilMs })));
    await wait(CHANGED_AGAIN_AFTER_MS);
    // A newer version in which nothing is new.
    await publish('active');
    await wait(BETWEEN_PAUSES_MS);
  }
  await publisher.close();
  return pauses;
}
