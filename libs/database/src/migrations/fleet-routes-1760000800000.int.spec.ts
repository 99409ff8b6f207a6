import { expect, it } from '@jest/globals';
import { createTestDatabase } from '../../../../test/support/test-database.js';
import { requireTestStack } from '../../../../test/support/test-stack.js';
import { createDataSource } from '../data-source.js';
import { FleetRoutes1760000800000 } from './fleet-routes-1760000800000.js';
import { migrations } from './index.js';

it('routes are turned on for the fleets that have subscribed to them before there was a setting, and that is published', async () => {
  const old = await createTestDatabase(requireTestStack().databaseUrl);
  const dataSource = await createDataSource(old.url).initialize();
  const since = migrations.indexOf(FleetRoutes1760000800000);
  for (let left = migrations.length - since; left > 0; left -= 1) await dataSource.undoLastMigration();
  const at = '2026-03-20T12:00:00.123Z';
  for (const [fleetId, eventType] of [
    ['asks', 'stop_finished'],
    ['does-not', 'position'],
  ]) {
    await dataSource.query("INSERT INTO fleets VALUES ($1, 'legacy-v1', 4, $2, $2, 'Vans')", [fleetId, at]);
    await dataSource.query(
      `INSERT INTO webhook_subscriptions
         (id, fleet_id, event_type, url, status, payload_format, secrets, on_outage, strict_order, version, created_at, updated_at)
       VALUES (gen_random_uuid(), $1, $2, 'https://a.example/', 'active', 'v1', '[]', 'fail', false, 1, $3, $3)`,
      [fleetId, eventType, at],
    );
  }
  await dataSource.runMigrations();

  const fleets: object[] = await dataSource.query('SELECT fleet_id, routes, version FROM fleets ORDER BY fleet_id');
  expect(fleets).toEqual([
    { fleet_id: 'asks', routes: true, version: 5 },
    { fleet_id: 'does-not', routes: false, version: 4 },
  ]);
  const [asks] = await dataSource.query<{ updated_at: Date }[]>("SELECT * FROM fleets WHERE fleet_id = 'asks'");
  const settings = { fleetId: 'asks', name: 'Vans', payloadFormat: 'legacy-v1', routes: true, version: 5 };
  const published: object[] = await dataSource.query('SELECT kind, key, value, published_at FROM outbox');
  expect(published).toEqual([
    {
      kind: 'fleet-settings',
      key: 'asks',
      published_at: null,
      value: { ...settings, createdAt: Date.parse(at), updatedAt: asks?.updated_at.getTime() },
    },
  ]);
  await dataSource.destroy();
  await old.drop();
});
