import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type AvroCodecs, createAvroCodecs } from '@waypost/contracts';
import { createDeliveryHistory, createDeliveryProjection } from '@waypost/history-store';
import { createMemoryBackend, type StreamsBackend } from '@waypost/streams';
import { createMemoryRegistry } from '../../../../test/support/registry/memory-registry.js';
import { until } from '../../../../test/support/until.js';
import {
  createProjectionDatabase,
  pause,
  type ProjectionDatabase,
  type Projector,
  startProjector,
} from '../testing/projectors.js';
import { sampleAttempt } from '../testing/sample-attempt.js';
import { createAttemptsTask } from './attempts.task.js';

const NOW = Date.UTC(2026, 5, 20, 12);
const TOPIC = 'webhook.attempts';
const PARTITIONS = 2;
const FLEET = 'fleet-a';
const DELIVERIES = 400;

let database: ProjectionDatabase;
let codecs: AvroCodecs;

beforeAll(async () => {
  database = await createProjectionDatabase();
  codecs = createAvroCodecs({ registry: createMemoryRegistry() });
  await codecs.webhookAttempts.prepare();
});
afterAll(() => database.drop());

function start(backend: StreamsBackend): Promise<Projector> {
  return startProjector({
    url: database.url,
    backend,
    groupId: 'history-projector',
    topic: TOPIC,
    createTask: (context, tools, dataSource) =>
      createAttemptsTask(context, {
        ...tools,
        codec: codecs.webhookAttempts,
        projection: createDeliveryProjection({ dataSource, now: () => NOW }),
        metrics: {
          batchApplied: () => undefined,
          lagMeasured: () => undefined,
          partitionClosed: () => undefined,
        },
      }),
  });
}

/** The log, in order: every first attempt is somewhere before its second. */
const LOG = Array.from({ length: DELIVERIES + 50 }, (_, n) => [
  ...(n < DELIVERIES ? [{ n, attempt: 1 as const }] : []),
  ...(n >= 50 ? [{ n: n - 50, attempt: 2 as const }] : []),
]).flat();

describe('the projection under faults', () => {
  it('equals the log after connections were cut and projectors replaced at any moment', async () => {
    const backend = createMemoryBackend({ topics: { [TOPIC]: PARTITIONS }, now: () => NOW });
    let projector = await start(backend);
    const fatal = [...projector.fatal];
    for (const [index, { n, attempt }] of LOG.entries()) {
      const value = codecs.webhookAttempts.encode(sampleAttempt(FLEET, n, attempt, NOW - 900_000 + n));
      backend.append({ topic: TOPIC, partition: n % PARTITIONS }, { key: null, value });
      if (index % 7 === 0) await pause(2);
      if (index % 41 === 40) await database.cutProjectors();
      if (index % 200 === 199) {
        fatal.push(...projector.fatal);
        await projector.stop();
        projector = await start(backend);
      }
    }
    await until(async () => (await database.positions()).join() === [LOG.length / 2, LOG.length / 2].join());
    await projector.stop();

    expect([...fatal, ...projector.fatal]).toEqual([]);
    const rows = await createDeliveryHistory({ pages: database.pages }).findDeliveries({
      fleetId: FLEET,
      startAt: 0,
      endAt: NOW,
      limit: 2 * DELIVERIES,
    });
    expect(rows.map(({ deviceId }) => deviceId)).toEqual(
      Array.from({ length: DELIVERIES }, (_, n) => `device-${String(n)}`),
    );
    expect(rows.every(({ status }) => status === 'delivered')).toBe(true);
    expect(new Set(rows.map(({ attempts }) => attempts.map(({ attempt }) => attempt).join()))).toEqual(
      new Set(['1,2']),
    );
    expect(rows.map(({ body }) => body)).toEqual(Array.from({ length: DELIVERIES }, (_, n) => `{"n":${String(n)}}`));
  });
});
