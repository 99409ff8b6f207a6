import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { openTestStore, type TestStore } from '../../../../test/support/test-store.js';
import { type ManagedResources, openRefill, type Refill } from './refill.js';

let database: TestStore;
let refill: Refill;
beforeAll(async () => {
  database = await openTestStore();
  refill = await openRefill(database.databaseUrl);
});
afterAll(async () => {
  await refill.close();
  await database.close();
});

/** One more than a statement inserts. */
const FLEETS = Array.from({ length: 501 }, (_, index) => ({
  fleetId: `fleet-${String(index).padStart(3, '0')}`,
  name: null,
  payloadFormat: 'v1',
  routes: false,
  version: 1,
  createdAt: 1_000,
  updatedAt: 1_000,
}));
const RESOURCES: ManagedResources = {
  fleets: FLEETS,
  geofences: [],
  subscriptions: [],
  replays: [],
  replayProgress: [],
  lastSeries: new Map(),
};

describe('refilling a lost database', () => {
  it('writes all resources, however many there are, and nothing into a database that is in use', async () => {
    expect(await refill.tablesInUse()).toEqual([]);
    expect(await refill.managedResources(RESOURCES)).toEqual({ type: 'refilled' });
    expect(await refill.tablesInUse()).toEqual(['fleets']);
    expect(await refill.managedResources(RESOURCES)).toEqual({ type: 'not_empty', tables: ['fleets'] });
    const { rows } = await database.sql.query<{ fleet_id: string }>('SELECT fleet_id FROM fleets ORDER BY fleet_id');
    expect(rows.map((row) => row.fleet_id)).toEqual(FLEETS.map(({ fleetId }) => fleetId));
  });
});
