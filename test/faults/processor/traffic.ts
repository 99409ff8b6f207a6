import { setTimeout as sleep } from 'node:timers/promises';
import { topics } from '@waypost/contracts';
import { geofenceKey } from '@waypost/domain';
import { openRecordPublisher, type PublishedRecord, type RecordPublisher } from '@waypost/platform';
import type { KafkaSettings } from '@waypost/streams';
import { pingOf, type TrackRow } from '../../../apps/cli/src/pings/ping-line.js';
import { createFleetModel, type FleetModel } from '../../../tools/simulator/fleet-model.js';
import { chance, createRandom, pick } from '../../../tools/simulator/random.js';
import { codecsOf } from '../shared/committed-log.js';
import type { Log } from '../shared/stage.js';
import { startSteadyWriter } from '../shared/steady-writer.js';

export interface TrafficOptions extends Log {
  readonly fleetId: string;
  readonly seed: number;
  readonly vehicles: number;
  readonly pingsPerSecond: number;
}

export interface Traffic {
  /** Records that the brokers have confirmed so far. */
  readonly published: () => number;
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
const REOPEN_WAIT_MS = 500;

/**
 * Pings of a simulated fleet at a steady rate in wall time, faster than the fleet's own clock; some are unusable, and some
 * have a position that the device itself calls invalid. Before its first ping the fleet wants routes and stops, and
 * has geofences where its vehicles drive.
 */
export async function startTraffic(options: TrafficOptions): Promise<Traffic> {
  const { kafka, seed, vehicles, pingsPerSecond } = options;
  const codecs = codecsOf(options);
  const codec = codecs.telemetryPings;
  await Promise.all([codec.prepare(), codecs.fleetSettings.prepare(), codecs.fleetGeofences.prepare()]);
  const { fleetId } = options;
  const versionOne = { version: 1, createdAt: START_AT, updatedAt: START_AT };
  const settings = { fleetId, name: null, payloadFormat: 'v1', routes: true, ...versionOne };
  await publishAll(kafka, topics.fleetSettings.name, [
    { key: Buffer.from(fleetId), value: codecs.fleetSettings.encode(settings) },
  ]);
  await publishAll(
    kafka,
    topics.fleetGeofences.name,
    placesOf({ seed, vehicles }).map((place, number) => {
      const geofenceId = `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`;
      const circle = { ...place, radiusInMeters: 100 + 60 * number };
      const fence = { geofenceId, fleetId, name: `Place ${String(number)}`, circle, polygon: null, ...versionOne };
      return { key: Buffer.from(geofenceKey(fence)), value: codecs.fleetGeofences.encode(fence) };
    }),
  );
  const nextRow = rowsOf(createFleetModel({ seed, vehicles, startAt: START_AT }));
  const random = createRandom(seed + 1);
  const publisher = steadyPublisher(kafka);

  function recordOf(row: TrackRow): PublishedRecord {
    const key = Buffer.from(String(row['deviceId']));
    if (!chance(random, UNUSABLE_SHARE)) {
      const ping = pingFrom(row, fleetId);
      return { key, value: codec.encode(chance(random, INVALID_SHARE) ? { ...ping, positionValid: false } : ping) };
    }
    const spoil = pick(random, ['garbage', 'future', 'wrong clock'] as const);
    if (spoil === 'garbage') return { key, value: Buffer.from('a ping, but not in Avro') };
    if (spoil === 'wrong clock') {
      const ahead = new Date(Date.now() + HOUR_MS).toISOString();
      return { key, value: codec.encode(pingFrom({ ...row, eventTime: ahead, receivedTime: ahead }, fleetId)) };
    }
    const eventTime = new Date(Date.parse(String(row['receivedTime'])) + 300_001).toISOString();
    return { key, value: codec.encode(pingFrom({ ...row, eventTime }, fleetId)) };
  }

  const writer = startSteadyWriter({
    perSecond: pingsPerSecond,
    tickMs: TICK_MS,
    mostAtOnce: MOST_AT_ONCE,
    write: (count) => publisher.publish(Array.from({ length: count }, () => recordOf(nextRow()))),
  });
  return {
    published: writer.written,
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
function steadyPublisher(kafka: KafkaSettings): RecordPublisher {
  let opened: Promise<RecordPublisher> | null = null;
  return {
    async publish(records) {
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
