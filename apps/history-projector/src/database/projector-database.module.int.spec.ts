import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Test, type TestingModule } from '@nestjs/testing';
import { Registry } from 'prom-client';
import { DataSource } from 'typeorm';
import { type AppRuntime, Readiness, RuntimeModule } from '@waypost/platform';
import { silentLogger } from '@waypost/streams';
import { createTestDatabase, type TestDatabase } from '../../../../test/support/test-database.js';
import { requireTestStack } from '../../../../test/support/test-stack.js';
import { readConfig } from '../config.js';
import { ProjectorDatabaseModule } from './projector-database.module.js';

let database: TestDatabase;
let app: TestingModule;

beforeAll(async () => {
  database = await createTestDatabase(requireTestStack().databaseUrl);
  const config = readConfig({
    KAFKA_BROKERS: 'localhost:9092',
    SCHEMA_REGISTRY_URL: 'http://localhost:8081',
    DATABASE_URL: database.projectorUrl,
    DATABASE_SCHEMA_URL: database.url,
  });
  const runtime: AppRuntime = {
    name: 'history-projector',
    config,
    metrics: new Registry(),
    logger: silentLogger as AppRuntime['logger'],
    onFatal: () => undefined,
    readiness: new Readiness(),
    stopping: new AbortController().signal,
  };
  const imports = [RuntimeModule.forRoot(runtime), ProjectorDatabaseModule];
  app = await (await Test.createTestingModule({ imports }).compile()).init();
});
afterAll(async () => {
  await app.close();
  await database.drop();
});

describe('a connection of history-projector', () => {
  it.each([
    [
      'idle_in_transaction_session_timeout',
      '10s',
      'a stopped process must not keep the next owner of its partition waiting',
    ],
    ['statement_timeout', '1min', 'a statement that hangs is given up and repeated'],
    ['application_name', 'waypost history-projector', 'other projectors find sessions that are stalled by it'],
  ])('has %s set to %s: %s', async (setting, value) => {
    const [found] = await app.get(DataSource).query<Record<string, string>[]>(`SHOW ${setting}`);
    expect(found?.[setting]).toBe(value);
  });
});
