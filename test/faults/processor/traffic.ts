import { setTimeout as sleep } from 'node:timers/promises';
import { type AvroCodecs, topics } from '@waypost/contracts';
import type { FleetSettings } from '@waypost/domain';
import { type KafkaSettings, openRecordPublisher, type PublishedRecord, type RecordPublisher } from '@waypost/streams';
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
const REOPEN_WAIT_MS = 500;

/**
 * Pings of a simulated fleet at a steady rate in wall time, faster than the fleet's own clock; some are unusable. The fleet
 * wants routes and stops, before its first ping.
 */
export async function startTraffic(options: TrafficOptions): Promise<Traffic> {
  const { kafka, seed, vehicles, pingsPerSecond } = options;
  const codecs = codecsOf(options);
  const codec = codecs.telemetryPings;
  await Promise.all([codec.prepare(), codecs.fleetSettings.prepare()]);
  await publishSettings(kafka, codecs.fleetSettings, {
    ...{ fleetId: options.fleetId, name: null, payloadFormat: 'v1', routes: true },
    ...{ version: 1, createdAt: START_AT, updatedAt: START_AT },
  });
  const nextRow = rowsOf(createFleetModel({ seed, vehicles, startAt: START_AT }));
  const random = createRandom(seed + 1);
  const publisher = steadyPublisher(kafka);

  function recordOf(row: TrackRow): PublishedRecord {
    const key = Buffer.from(String(row['deviceId']));
    if (!chance(random, UNUSABLE_SHARE)) return { key, value: codec.encode(pingFrom(row, options.fleetId)) };
    const spoil = pick(random, ['garbage', 'future'] as const);
    if (spoil === 'garbage') return { key, value: Buffer.from('a ping, but not in Avro') };
    const eventTime = new Date(Date.parse(String(row['receivedTime'])) + 300_001).toISOString();
    return { key, value: codec.encode(pingFrom({ ...row, eventTime }, options.fleetId)) };
  }

  const writer = startSteadyWriter({
    ...{ perSecond: pingsPerSecond, tickMs: TICK_MS, mostAtOnce: MOST_AT_ONCE },
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

async function publishSettings(
  kafka: KafkaSettings,
  codec: AvroCodecs['fleetSettings'],
  settings: FleetSettings,
): Promise<void> {
  const publisher = await openRecordPublisher(kafka, topics.fleetSettings.name);
  await publisher.publish([{ key: Buffer.from(settings.fleetId), value: codec.encode(settings) }]);
  await publisher.close();
}

function pingFrom(row: TrackRow, fleetId: string) {
  const result = pingOf(row, { fleetId, shiftMs: 0, keepReceivedTime: true });
  if (result.type === 'ping') return result.ping;
  throw new Error(`The simulator made a row that is no ping: ${result.detail}`);
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
