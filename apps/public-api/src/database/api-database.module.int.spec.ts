import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Test, type TestingModule } from '@nestjs/testing';
import { Registry } from 'prom-client';
import type { DataSource } from 'typeorm';
import { createDataSource } from '@waypost/database';
import { DeliveryHistory } from '@waypost/domain';
import { createDeliveryProjection, createProjectionProgress } from '@waypost/history-store';
import { FleetStore, SubscriptionStore } from '@waypost/management-store';
import { type AppRuntime, Readiness, RuntimeModule } from '@waypost/platform';
import { silentLogger } from '@waypost/streams';
import { subscriptionOf } from '../../../../test/support/samples.js';
import { createTestDatabase, type TestDatabase } from '../../../../test/support/test-database.js';
import type { PublicApiConfig } from '../config.js';
import { attemptOf, NOW, uuidOf } from '../testing/walked-deliveries.js';
import { ApiDatabaseModule } from './api-database.module.js';

const FLEET = 'acme';

let databases: { readonly primary: TestDatabase; readonly standby: TestDatabase };
let writers: { readonly primary: DataSource; readonly standby: DataSource };
let app: TestingModule;

beforeAll(async () => {
  const serverUrl = process.env['WAYPOST_TEST_DATABASE_URL'] ?? '';
  // A standby that is as late as the test wants: what the primary has is written here again later.
  const [primary, standby] = await Promise.all([createTestDatabase(serverUrl), createTestDatabase(serverUrl)]);
  databases = { primary, standby };
  writers = {
    primary: await createDataSource(primary.url).initialize(),
    standby: await createDataSource(standby.url).initialize(),
  };
  for (const writer of Object.values(writers)) await createProjectionProgress(writer).begin('webhook.attempts', 1);
  const config = { database: { url: primary.apiUrl }, databaseRead: { readUrl: standby.apiUrl } };
  const runtime: AppRuntime = {
    name: 'public-api',
    config: config as unknown as PublicApiConfig,
    metrics: new Registry(),
    logger: silentLogger as AppRuntime['logger'],
    onFatal: () => undefined,
    readiness: new Readiness(),
    stopping: new AbortController().signal,
  };
  app = await Test.createTestingModule({ imports: [RuntimeModule.forRoot(runtime), ApiDatabaseModule] }).compile();
  await app.init();
});
afterAll(async () => {
  await app.close();
  await Promise.all([writers.primary.destroy(), writers.standby.destroy()]);
  await Promise.all([databases.primary.drop(), databases.standby.drop()]);
});

/** Projects the n-th delivery, and that the log was read until then. */
async function project(dataSource: DataSource, n: number): Promise<void> {
  const plan = { event: n, series: 0, device: 'd', type: 'position', subscription: uuidOf('s'), answers: [200] };
  const attempts = [attemptOf(FLEET, { ...plan, firstAttemptAt: NOW + n }, 1)];
  const offsets = { expectedOffset: n === 0 ? null : n, nextOffset: n + 1 };
  const batch = { topic: 'webhook.attempts', partition: 0, ...offsets, completeUntil: NOW + 100_000 * n, attempts };
  const projection = createDeliveryProjection({ dataSource, now: () => NOW });
  expect(await projection.apply(batch)).toMatchObject({ type: 'applied' });
}

describe('public-api with a standby that lags behind (DATABASE_READ_URL)', () => {
  it('says of a page that it is complete for as far as the standby is, so that a poller misses nothing (R-33)', async () => {
    const history = app.get(DeliveryHistory);
    const query = { fleetId: FLEET, startAt: NOW - 1_000, endAt: NOW + 1_000, limit: 10 };
    await project(writers.primary, 0);
    await project(writers.standby, 0);
    await project(writers.primary, 1);
    const late = await history.findDeliveries(query);
    expect(late.records.map(({ firstAttemptAt }) => firstAttemptAt)).toEqual([NOW]);

    await project(writers.standby, 1);
    const current = await history.findDeliveries(query);
    expect(current.records.map(({ firstAttemptAt }) => firstAttemptAt)).toEqual([NOW, NOW + 1]);
    expect(Number(current.completeUntil) - Number(late.completeUntil)).toBe(100_000);
    expect(late.completeUntil).toBeLessThan(NOW + 1);
  });

  it('reads what it has written at once', async () => {
    const [fleets, subscriptions] = [app.get(FleetStore), app.get(SubscriptionStore)];
    await fleets.create({ fleetId: FLEET, payloadFormat: 'v1', nowMs: NOW });
    expect(await fleets.find(FLEET)).toMatchObject({ fleetId: FLEET });
    const subscription = subscriptionOf({ fleetId: FLEET });
    await subscriptions.create([subscription], NOW);
    expect(await subscriptions.get({ fleetId: FLEET, id: subscription.id })).toMatchObject({ id: subscription.id });
  });
});
