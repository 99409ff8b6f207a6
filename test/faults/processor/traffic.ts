import { setTimeout as sleep } from 'node:timers/promises';
import { topics } from '@waypost/contracts';
import { geofenceKey } from '@waypost/domain';
import { openRecordPublisher, type PublishedRecord, type RecordPublisher } from '@waypost/platform/without-nest';
import type { KafkaSettings } from '@waypost/streams';
import { pingOf, type TrackRow } from '../../../apps/cli/src/pings/ping-line.js';
import { createFleetModel, type FleetModel } from '../../../tools/simulator/fleet-model.js';
import { chance, createRandom, pick } from '../../../tools/simulator/random.js';
import { codecsOf } from '../shared/committed-log.js';
import type { Log } from '../shared/stage.js';
import { startSteadyWriter } from '../shared/steady-writer.js';

export interface TrafficOptions extends Log {
  readonly fleetId: string;
  /** Its devices have the ids of devices of the first fleet; absent: there is none. */
  readonly otherFleetId?: string;
  readonly seed: number;
  readonly vehicles: number;
  readonly pingsPerSecond: number;
}

export interface Traffic {
  /** Records that the brokers have confirmed so far. */
  readonly published: () => number;
  /** The next records are sent by a new client, which asks for the partitions again. */
  renewClient(): void;
  /** Resolves when everything sent is confirmed; nothing more is sent before the call of what it resolves with. */
  pause(): Promise<() => void>;
  /** Publishes no more; resolves when the last record is confirmed. */
  stop(): Promise<void>;
}

const START_AT = Date.UTC(2026, 0, 12, 6);
const TICK_MS = 100;
const MOST_AT_ONCE = 400;
const MODEL_STEP_MS = 5_000;
const UNUSABLE_SHARE = 0.004;
const INVALID_SHARE = 0.02;
const HOUR_MS = 3_600_000;
const GEOFENCES = 10;
/** Of latitude. */
const METERS_PER_DEGREE = 111_195;
const REOPEN_WAIT_MS = 500;

/**
 * Pings of a simulated fleet at a steady rate in wall time, faster than the fleet's own clock; some are unusable, and some
 * have a position that the device itself calls invalid. Before its first ping the fleet wants routes and stops, and
 * has circles as geofences where its vehicles drive. The other fleet, where there is one, wants no routes, has
 * rectangles there, and half of the devices, which report the same at the same times.
 */
export async function startTraffic(options: TrafficOptions): Promise<Traffic> {
  const { kafka, seed, vehicles, pingsPerSecond } = options;
  const codecs = codecsOf(options);
  const codec = codecs.telemetryPings;
  await Promise.all([codec.prepare(), codecs.fleetSettings.prepare(), codecs.fleetGeofences.prepare()]);
  const { fleetId, otherFleetId } = options;
  const versionOne = { version: 1, createdAt: START_AT, updatedAt: START_AT };
  const fleets: Fleet[] = [{ fleetId, routes: true }];
  if (otherFleetId !== undefined) fleets.push({ fleetId: otherFleetId, routes: false });
  await publishAll(
    kafka,
    topics.fleetSettings.name,
    fleets.map((fleet) => {
      const settings = { ...fleet, name: null, payloadFormat: 'v1', ...versionOne };
      return { key: Buffer.from(fleet.fleetId), value: codecs.fleetSettings.encode(settings) };
    }),
  );
  const places = placesOf({ seed, vehicles });
  const fences = fleets.flatMap((fleet) => places.map((place, number) => fenceAt(place, number, fleet)));
  await publishAll(
    kafka,
    topics.fleetGeofences.name,
    fences.map((fence) => ({
      key: Buffer.from(geofenceKey(fence)),
      value: codecs.fleetGeofences.encode({ ...fence, ...versionOne }),
    })),
  );
  const nextRow = rowsOf(createFleetModel({ seed, vehicles, startAt: START_AT }));
  const random = createRandom(seed + 1);
  const publisher = steadyPublisher(kafka);
  let [gate, underWay] = [Promise.resolve(), Promise.resolve()];

  let twin: TrackRow | null = null;
  function nextRecord(): PublishedRecord {
    if (twin !== null && otherFleetId !== undefined) {
      const row = twin;
      twin = null;
      return recordOf(row, otherFleetId);
    }
    const row = nextRow();
    if (otherFleetId !== undefined && hasTwin(row)) twin = row;
    return recordOf(row, fleetId);
  }

  function recordOf(row: TrackRow, ofFleet: string): PublishedRecord {
    const key = Buffer.from(String(row['deviceId']));
    if (!chance(random, UNUSABLE_SHARE)) {
      const ping = pingFrom(row, ofFleet);
      return { key, value: codec.encode(chance(random, INVALID_SHARE) ? { ...ping, positionValid: false } : ping) };
    }
    const spoil = pick(random, ['garbage', 'future', 'wrong clock'] as const);
    if (spoil === 'garbage') return { key, value: Buffer.from('a ping, but not in Avro') };
    if (spoil === 'wrong clock') {
      const ahead = new Date(Date.now() + HOUR_MS).toISOString();
      return { key, value: codec.encode(pingFrom({ ...row, eventTime: ahead, receivedTime: ahead }, ofFleet)) };
    }
    const eventTime = new Date(Date.parse(String(row['receivedTime'])) + 300_001).toISOString();
    return { key, value: codec.encode(pingFrom({ ...row, eventTime }, ofFleet)) };
  }

  const writer = startSteadyWriter({
    perSecond: pingsPerSecond,
    tickMs: TICK_MS,
    mostAtOnce: MOST_AT_ONCE,
    write: async (count) => {
      await gate;
      underWay = publisher.publish(Array.from({ length: count }, nextRecord));
      await underWay;
    },
  });
  return {
    published: writer.written,
    renewClient: publisher.renew,
    async pause() {
      let open: () => void = () => undefined;
      gate = new Promise((resolve) => {
        open = resolve;
      });
      await underWay;
      return open;
    },
    async stop() {
      await writer.stop();
      await publisher.close();
    },
  };
}

async function publishAll(kafka: KafkaSettings, topic: string, records: readonly PublishedRecord[]): Promise<void> {
  const publisher = await openRecordPublisher(kafka, topic);
  await publisher.publish(records);
  await publisher.close();
}

interface Fleet {
  readonly fleetId: string;
  readonly routes: boolean;
}

/** Whether the other fleet has a device of this id: by the id alone. */
function hasTwin(row: TrackRow): boolean {
  return (String(row['deviceId']).at(-1) ?? '').charCodeAt(0) % 2 === 0;
}

interface Place {
  readonly latitude: number;
  readonly longitude: number;
}

/** A circle for the fleet with routes, and else a rectangle that is about as large. */
function fenceAt(place: Place, number: number, { fleetId, routes }: Fleet) {
  const radiusInMeters = 100 + 60 * number;
  const geofenceId = `00000000-0000-4000-8000-${String(number + (routes ? 0 : GEOFENCES)).padStart(12, '0')}`;
  const named = { geofenceId, fleetId, name: `Place ${String(number)} of ${fleetId}` };
  if (routes) return { ...named, circle: { ...place, radiusInMeters }, polygon: null };
  const degrees = radiusInMeters / METERS_PER_DEGREE;
  const corners = [[-1, -2] as const, [-1, 2] as const, [1, 2] as const, [1, -2] as const];
  const ring = corners.map(([north, east]) => ({
    latitude: place.latitude + north * degrees,
    longitude: place.longitude + east * degrees,
  }));
  return { ...named, circle: null, polygon: { rings: [ring] } };
}

/** Where vehicles of this fleet will be in its first minutes. */
function placesOf({ seed, vehicles }: Pick<TrafficOptions, 'seed' | 'vehicles'>) {
  const rows = createFleetModel({ seed, vehicles, startAt: START_AT }).advanceTo(START_AT + 600_000);
  const fixes = rows.flatMap(({ latitude = 0, longitude = 0, speedKmh = 0 }) =>
    latitude !== 0 && speedKmh > 20 ? [{ latitude, longitude }] : [],
  );
  return Array.from(
    { length: GEOFENCES },
    (_, number) => fixes[Math.floor((fixes.length * number) / GEOFENCES)],
  ).filter((place) => place !== undefined);
}

function pingFrom(row: TrackRow, fleetId: string) {
  const result = pingOf(row, { fleetId, shiftMs: 0, keepReceivedTime: true });
  if (result.type === 'ping') return result.ping;
  throw new Error(`The simulator made a row that is not a ping: ${result.detail}`);
}

function rowsOf(model: FleetModel): () => TrackRow {
  let clockMs = START_AT;
  let rows: TrackRow[] = [];
  let next = 0;
  return () => {
    while (next >= rows.length) {
      clockMs += MODEL_STEP_MS;
      rows = [...model.advanceTo(clockMs)] as unknown as TrackRow[];
      next = 0;
    }
    const row = rows[next];
    next += 1;
    if (row === undefined) throw new Error('The simulator ran dry.');
    return row;
  };
}

/**
 * A publisher that a broken client does not end: the records are sent again with a new one. A record may be in the log
 * twice then, which the rules drop like any repeated ping; the judge goes by what is in the log.
 */
function steadyPublisher(
  kafka: KafkaSettings,
): Pick<RecordPublisher, 'publish' | 'close'> & { readonly renew: () => void } {
  let opened: Promise<RecordPublisher> | null = null;
  let stale: Promise<RecordPublisher> | null = null;
  return {
    renew: () => {
      stale = opened;
    },
    async publish(records) {
      if (stale !== null && stale === opened) {
        opened = null;
        await (await stale).close();
      }
      for (;;) {
        const mine = (opened ??= openRecordPublisher(kafka, topics.telemetryPings.name));
        try {
          await (await mine).publish(records);
          return;
        } catch {
          if (opened === mine) opened = null;
          void mine.then((publisher) => publisher.close()).catch(() => undefined);
          await sleep(REOPEN_WAIT_MS);
        }
      }
    },
    close: async () => (await opened)?.close(),
  };
}
