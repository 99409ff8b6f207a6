import { expect, it } from '@jest/globals';
import type { AsyncMicroserviceOptions } from '@nestjs/microservices';
import { Test } from '@nestjs/testing';
import { Registry } from 'prom-client';
import { createAvroCodecs } from '@waypost/contracts';
import {
  createLogger,
  Readiness,
  RuntimeModule,
  SCHEMA_REGISTRY,
  STREAMS_BACKEND,
  StreamsRuntime,
  StreamsServer,
} from '@waypost/platform';
import { MemoryRuntime } from '@waypost/platform/testing';
import { createMemoryBackend } from '@waypost/streams/testing';
import { createMemoryRegistry } from '../../../test/support/registry/memory-registry.js';
import { pingOf } from '../../../test/support/samples.js';
import { readConfig } from './config.js';
import { TelemetryProcessorModule } from './telemetry-processor.module.js';

it('TelemetryProcessorModule follows the fleets and decides pings through its controller', async () => {
  const registry = createMemoryRegistry();
  const runtime = new MemoryRuntime();
  const processRuntime = RuntimeModule.forRoot({
    name: 'telemetry-processor',
    config: readConfig({ KAFKA_BROKERS: 'localhost:9092', SCHEMA_REGISTRY_URL: 'http://localhost:8081' }),
    logger: createLogger({ app: 'test', level: 'silent' }),
    metrics: new Registry(),
    onFatal: () => undefined,
    readiness: new Readiness(),
    stopping: new AbortController().signal,
  });
  const topics = { 'telemetry.pings': 1, 'fleet.geofences': 1, 'fleet.settings': 1 };
  const module = await Test.createTestingModule({ imports: [processRuntime, TelemetryProcessorModule] })
    .overrideProvider(StreamsRuntime)
    .useValue(runtime)
    .overrideProvider(STREAMS_BACKEND)
    .useValue(createMemoryBackend({ topics, now: Date.now }))
    .overrideProvider(SCHEMA_REGISTRY)
    .useValue(registry)
    .compile();
  const app = module.createNestMicroservice<AsyncMicroserviceOptions>({
    inject: [StreamsServer],
    useFactory: (strategy: StreamsServer) => ({ strategy }),
  });
  await app.listen();
  const codecs = createAvroCodecs({ registry });
  await codecs.telemetryPings.prepare();
  const ping = pingOf();

  const position = await runtime.feed('telemetry.pings', [
    { key: Buffer.from(ping.deviceId), value: codecs.telemetryPings.encode(ping), timestamp: ping.receivedTime },
  ]);

  expect(position).toBe(1);
  const written = runtime.written.map(({ topic }) => topic);
  expect(written.sort()).toEqual(['fleet.events', 'telemetry-processor.device-state']);
  await app.close();
});
