import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Test, type TestingModule } from '@nestjs/testing';
import { DataSource } from 'typeorm';
import { DatabaseModule, PageSource } from '@waypost/database';
import { createTestDatabase, type TestDatabase } from '../../../test/support/test-database.js';
import { requireTestStack } from '../../../test/support/test-stack.js';
import { ManagementStoreModule } from './management-store.module.js';
import { OutboxStore } from './outbox/outbox.js';
import { FleetStore } from './stores/fleet-store.js';
import { IdempotencyStore } from './stores/idempotency-store.js';

let database: TestDatabase;
let module: TestingModule;
let connected = 0;

beforeAll(async () => {
  database = await createTestDatabase(requireTestStack().databaseUrl);
  const connect = (dataSource: DataSource): Promise<unknown> => {
    connected += 1;
    return dataSource.initialize();
  };
  module = await Test.createTestingModule({
    imports: [
      DatabaseModule.forRootAsync({ useFactory: () => ({ url: database.url, poolSize: 2, connect }) }),
      ManagementStoreModule,
    ],
  }).compile();
});
afterAll(async () => {
  await database.drop();
});

describe('ManagementStoreModule on DatabaseModule', () => {
  it('connects when the application starts, not when it is built', async () => {
    expect(module.get(DataSource).isInitialized).toBe(false);
    await module.init();
    expect(connected).toBe(1);
    expect(module.get(DataSource).isInitialized).toBe(true);
  });

  it('injects the stores, and shares one transaction between those of an idempotent change', async () => {
    const fleets = module.get(FleetStore);
    const failed = module
      .get(IdempotencyStore)
      .once({ fleetId: 'f', route: 'POST /x', key: 'k' }, 1, async (stores) => {
        await stores.fleets.create({ fleetId: 'rolled-back', payloadFormat: 'v1', nowMs: 1 });
        throw new Error('after the change');
      });
    await expect(failed).rejects.toThrow('after the change');
    expect(await fleets.find('rolled-back')).toBeNull();

    const made = await fleets.create({ fleetId: 'kept', payloadFormat: 'v1', nowMs: 1 });
    expect(made.type === 'created' && (await module.get(OutboxStore).isPublished(made.outboxIds))).toBe(false);
    expect(await module.get(OutboxStore).readLag()).toEqual({ waiting: 1, oldestAt: 1 });
  });

  it('disconnects when the application has stopped', async () => {
    const pages = module.get<PageSource>(PageSource);
    await pages.read('acme', { name: 'one', text: 'SELECT 1', parameters: [] });
    await module.close();
    expect(module.get(DataSource).isInitialized).toBe(false);
    expect(pages.usage()).toEqual({ total: 0, idle: 0, waiting: 0 });
  });
});
