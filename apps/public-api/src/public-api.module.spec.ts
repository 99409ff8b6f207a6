import { describe, expect, it } from '@jest/globals';
import { Test, TestingModule } from '@nestjs/testing';
import { Registry } from 'prom-client';
import { DataSource } from 'typeorm';
import { createLogger, Readiness, RuntimeModule, STREAMS_BACKEND } from '@waypost/platform';
import { createMemoryBackend } from '@waypost/streams/testing';
import { readConfig } from './config.js';
import { PublicApiModule } from './public-api.module.js';

const KEY = Buffer.alloc(32, 1).toString('base64');
const config = readConfig({
  KAFKA_BROKERS: 'localhost:9092',
  SCHEMA_REGISTRY_URL: 'http://localhost:8081',
  DATABASE_URL: 'postgres://localhost/waypost',
  WAYPOST_SEALING_KEY: KEY,
  WAYPOST_PAGE_TOKEN_KEY: KEY,
});

describe('PublicApiModule', () => {
  it('has a provider for everything that its own providers ask for', async () => {
    const runtime = RuntimeModule.forRoot({
      name: 'public-api',
      config,
      logger: createLogger({ app: 'test', level: 'silent' }),
      metrics: new Registry(),
      onFatal: () => undefined,
      readiness: new Readiness(),
      stopping: new AbortController().signal,
    });
    const compiled = Test.createTestingModule({ imports: [runtime, PublicApiModule] })
      .overrideProvider(STREAMS_BACKEND)
      .useValue(createMemoryBackend({ topics: {}, now: Date.now }))
      .overrideProvider(DataSource)
      .useValue({ options: { type: 'postgres' }, entityMetadatas: [], getRepository: () => ({}) })
      .compile();

    await expect(compiled).resolves.toBeInstanceOf(TestingModule);
  });
});
