import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Registry } from 'prom-client';
import { type AvroCodecs, createAvroCodecs, type TelemetryPing } from '@waypost/contracts';
import { createPathHistory, createPathProjection } from '@waypost/history-store';
import { createMemoryBackend, type StreamsBackend } from '@waypost/streams';
import { createMemoryRegistry } from '../../../../test/support/registry/memory-registry.js';
import { pingOf } from '../../../../test/support/samples.js';
import { until } from '../../../../test/support/until.js';
import { createPathMetrics } from '../projection/metrics.js';
import {
  createProjectionDatabase,
  pause,
  type ProjectionDatabase,
  type Projector,
  startProjector,
} from '../testing/projectors.js';
import { createPathsTask } from './paths.task.js';

const NOW = Date.UTC(2026, 5, 20, 12);
const TOPIC = 'telemetry.pings';
const PARTITIONS = 2;
const FLEET = 'fleet-a';
const RECORDS = 1_500;

let database: ProjectionDatabase;
let codecs: AvroCodecs;

beforeAll(async () => {
  database = await createProjectionDatabase();
  codecs = createAvroCodecs({ registry: createMemoryRegistry() });
  await codecs.telemetryPings.prepare();
});
afterAll(() => database.drop());

function start(backend: StreamsBackend): Promise<Projector> {
  const metrics = createPathMetrics(new Registry());
  return startProjector({
    url: database.url,
    backend,
    groupId: 'history-projector.paths',
    topic: TOPIC,
    createTask: (context, tools, dataSource) =>
      createPathsTask(context, {
        ...tools,
        codec: codecs.telemetryPings,
        projection: createPathProjection({ dataSource, now: () => NOW }),
        metrics,
      }),
  });
}

/**
 * Record `n` of the log, and what is to be seen of it: of seven devices, every fifth ping late by some hours, every fourth
 * the repetition of an earlier one with another speed, every eleventh no ping at all, every thirteenth from the future.
 */
function recordOf(n: number): { deviceId: string; ping: TelemetryPing | null; isTaken: boolean } {
  const deviceId = `device-${String(n % 7)}`;
  if (n % 11 === 10) return { deviceId, ping: null, isTaken: false };
  const isFuture = n % 13 === 12;
  const of = n % 4 === 3 ? n - 7 * ((n % 3) + 1) : n;
  const eventTime = NOW - (RECORDS - of) * 60_000 - (of % 5 === 4 ? 3 * 3_600_000 + 1 : 0);
  const receivedTime = isFuture ? eventTime - 300_001 : NOW;
  const ping = pingOf({ fleetId: FLEET, deviceId, eventTime, receivedTime, speedInKmh: n });
  return { deviceId, ping, isTaken: !isFuture };
}

/** Device and time of each point with the speed that tells the record, in the order of the pages. */
function expectedPoints(): string[] {
  const first = new Map<string, number>();
  for (let n = 0; n < RECORDS; n++) {
    const { deviceId, ping, isTaken } = recordOf(n);
    if (ping === null || !isTaken) continue;
    const place = `${deviceId} ${new Date(ping.eventTime).toISOString()}`;
    if (!first.has(place)) first.set(place, n);
  }
  return [...first].map(([place, n]) => `${place} ${String(n)}`).sort();
}

describe('the paths under faults', () => {
  it('equal a fold of the pings after connections were cut and projectors replaced or doubled at any moment', async () => {
    const backend = createMemoryBackend({ topics: { [TOPIC]: PARTITIONS }, now: () => NOW });
    let projector = await start(backend);
    const fatal: Error[] = [];
    for (let n = 0; n < RECORDS; n++) {
      const { deviceId, ping } = recordOf(n);
      const value = ping === null ? Buffer.from('no ping') : codecs.telemetryPings.encode(ping);
      backend.append({ topic: TOPIC, partition: (n % 7) % PARTITIONS }, { key: Buffer.from(deviceId), value });
      if (n % 20 === 0) await pause(2);
      if (n % 150 === 149) await database.cutProjectors();
      if (n % 500 === 499) {
        const successor = await start(backend);
        fatal.push(...projector.fatal);
        await projector.stop();
        projector = successor;
      }
    }
    const ends = await Promise.all(
      Array.from({ length: PARTITIONS }, (_, partition) => backend.endOffset({ topic: TOPIC, partition })),
    );
    await until(async () => (await database.positions()).join() === ends.join());
    await projector.stop();

    expect([...fatal, ...projector.fatal]).toEqual([]);
    const found = await createPathHistory({ pages: database.pages }).findPoints({
      fleetId: FLEET,
      startAt: 0,
      endAt: NOW,
      limit: 2 * RECORDS,
    });
    const shown = found.map(
      ({ deviceId, eventTime, speedInKmh }) => `${deviceId} ${new Date(eventTime).toISOString()} ${String(speedInKmh)}`,
    );
    expect(shown).toEqual(expectedPoints());
  });
});
