import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { AsyncMicroserviceOptions } from '@nestjs/microservices';
import { Test } from '@nestjs/testing';
import { Registry } from 'prom-client';
import { type AvroCodecs, createAvroCodecs, topics } from '@waypost/contracts';
import { ATTEMPT_DEADLINE_MS } from '@waypost/domain';
import {
  CODECS,
  RANDOM,
  Readiness,
  RuntimeModule,
  STREAMS_BACKEND,
  StreamsRuntime,
  StreamsServer,
} from '@waypost/platform';
import { MemoryRuntime } from '@waypost/platform/testing';
import { silentLogger, type StreamsBackend } from '@waypost/streams';
import { createMemoryBackend } from '@waypost/streams/testing';
import { createMemoryRegistry } from '../../../test/support/registry/memory-registry.js';
import { eventOf, subscriptionOf } from '../../../test/support/samples.js';
import { until } from '../../../test/support/until.js';
import { Headroom } from './process/headroom.js';
import { replayOf } from './replay/testing/replay-harness.js';
import { SENDER_SETTINGS, type SenderSettings } from './sender/sender-settings.js';
import { aDelivery } from './sender/testing/sender-samples.js';
import { type AttemptRequest, AttemptRunner } from './single-attempt/attempt-runner.js';
import { WebhookDeliveryModule } from './webhook-delivery.module.js';

const SUBSCRIPTIONS = { topic: topics.webhookSubscriptions.name, partition: 0 };
const ATTEMPTS = { topic: topics.webhookAttempts.name, partition: 0 };

const config = {
  process: { adminHost: '127.0.0.1', adminPort: 0, logLevel: 'silent', instanceId: undefined, supervised: false },
  traces: { serviceName: 'webhook-delivery', url: undefined, sampleRatio: 0 },
  registry: { url: 'http://registry.invalid' },
  egress: { allowedSubnets: [], denied: [], allowHttp: false },
  sealingKeys: [Buffer.alloc(32, 1)],
  replay: { maxUnsent: 1_000 },
} as const;

let codecs: AvroCodecs;
let backend: StreamsBackend & { append: ReturnType<typeof createMemoryBackend>['append'] };
let runtime: MemoryRuntime;
let attempts: AttemptRequest[];
let app: Awaited<ReturnType<typeof start>>;

async function start() {
  const processRuntime = RuntimeModule.forRoot({
    name: 'webhook-delivery',
    config,
    metrics: new Registry(),
    readiness: new Readiness(),
    logger: silentLogger as never,
    onFatal: (error) => {
      throw error;
    },
    stopping: new AbortController().signal,
  });
  const run = (request: AttemptRequest) => {
    attempts.push(request);
    const result = { type: 'response', statusCode: 200 } as const;
    return Promise.resolve({
      type: 'ended',
      url: 'https://example.org/',
      auth: 'none',
      result,
      discardToken: () => undefined,
    });
  };
  const module = await Test.createTestingModule({ imports: [processRuntime, WebhookDeliveryModule] })
    .overrideProvider(STREAMS_BACKEND)
    .useValue(backend)
    .overrideProvider(StreamsRuntime)
    .useValue(runtime)
    .overrideProvider(CODECS)
    .useValue(codecs)
    .overrideProvider(AttemptRunner)
    .useValue({ run })
    .compile();
  const created = module.createNestMicroservice<AsyncMicroserviceOptions>({
    inject: [StreamsServer],
    useFactory: (strategy: StreamsServer) => ({ strategy }),
  });
  await created.listen();
  return created;
}

function aDeliveryRecord() {
  const delivery = aDelivery(1);
  return { key: Buffer.from(delivery.subscriptionId), value: codecs.webhookDeliveries.encode(delivery) };
}

function anEventRecord() {
  return { key: Buffer.from('device-1'), value: codecs.fleetEvents.encode(eventOf()) };
}

beforeEach(async () => {
  codecs = createAvroCodecs({ registry: createMemoryRegistry() });
  await Promise.all(Object.values(codecs).map((codec) => codec.prepare()));
  const names = Object.values(topics).map(({ name }) => [name, 1] as const);
  backend = createMemoryBackend({ topics: Object.fromEntries(names), now: Date.now });
  runtime = new MemoryRuntime();
  attempts = [];
  const subscription = subscriptionOf({ id: 'subscription-1' });
  const value = codecs.webhookSubscriptions.encode(subscription);
  backend.append(SUBSCRIPTIONS, { key: Buffer.from(subscription.id), value });
  app = await start();
});
afterEach(() => {
  jest.restoreAllMocks();
  return app.close();
});

describe('webhook-delivery', () => {
  it('starts the sender, then the fan-out, then the replayer, and stops them in reverse', async () => {
    const groups = ['webhook-delivery.sender', 'webhook-delivery.fan-out', 'webhook-delivery.replayer'];
    expect(runtime.events).toEqual(groups.map((group) => `${group} started`));

    runtime.events.length = 0;
    await app.close();

    expect(runtime.events).toEqual(groups.toReversed().map((group) => `${group} stopped`));
  });

  it('gives the sender 6.3 s to stop: longer than an attempt, within the time of the application', () => {
    const handlers = [...app.get(StreamsServer).getHandlers().values()];
    const limits = handlers.map(({ extras }) => {
      const { group, stopTimeoutMs } = extras?.['consumer'] as { group: { id: string }; stopTimeoutMs?: number };
      return [group.id, stopTimeoutMs];
    });
    expect(limits).toEqual([
      ['webhook-delivery.sender', 6_300],
      ['webhook-delivery.fan-out', undefined],
      ['webhook-delivery.replayer', undefined],
    ]);
  });

  it('lets attempts in flight end when the sender stops: for longer than one takes, and not to its last moment (R-25)', () => {
    const { closeGraceMs } = app.get<SenderSettings>(SENDER_SETTINGS);
    expect(closeGraceMs).toBeGreaterThan(ATTEMPT_DEADLINE_MS);
    expect(closeGraceMs).toBeLessThan(6_300);
  });

  it('asks one headroom before first attempts and fan-out, so that late retries take time from both (R-22)', async () => {
    const asked = jest.spyOn(Headroom.prototype, 'share');
    const headroomsAskedFor = async (
      topic: string,
      record: ReturnType<typeof anEventRecord>,
    ): Promise<Set<unknown>> => {
      asked.mockClear();
      await runtime.feed(topic, [record]);
      await until(() => asked.mock.contexts.length > 0);
      return new Set(asked.mock.contexts);
    };

    const ofAttempt = await headroomsAskedFor(topics.webhookDeliveries.name, aDeliveryRecord());
    const ofFanOut = await headroomsAskedFor(topics.fleetEvents.name, anEventRecord());

    expect(new Set([...ofAttempt, ...ofFanOut]).size).toBe(1);
  });

  it('draws the waits between attempts from a uniform generator (R-22)', () => {
    expect(app.get(RANDOM)).toBe(Math.random);
  });

  it('attempts and logs a delivery that its handler receives', async () => {
    expect(await runtime.feed(topics.webhookDeliveries.name, [aDeliveryRecord()])).toBe(1);

    // The first offset is the marker of the writer that took the partition over.
    await until(async () => (await backend.endOffset(ATTEMPTS)) === 2);
    expect(attempts).toMatchObject([{ delivery: { eventId: aDelivery(1).eventId }, attempt: 1 }]);
  });

  it('fans out an event and runs a replay that their handlers receive', async () => {
    const replay = replayOf({ subscriptionId: 'subscription-1' });
    const asked = { key: Buffer.from(replay.replayId), value: codecs.webhookReplays.encode(replay) };

    expect(await runtime.feed(topics.fleetEvents.name, [anEventRecord()])).toBe(1);
    expect(await runtime.feed(topics.webhookReplays.name, [asked])).toBe(1);

    for (const topic of [topics.webhookDeliveries.name, topics.replayProgress.name]) {
      await until(async () => (await backend.endOffset({ topic, partition: 0 })) > 1);
    }
  });
});
