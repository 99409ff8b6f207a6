import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import type { DataSource } from 'typeorm';
import { createDataSource, createPageSource, type PageSource } from '@waypost/database';
import { createTestDatabase, type TestDatabase } from '../../../../test/support/test-database.js';
import { requireTestStack } from '../../../../test/support/test-stack.js';
import { attemptsOf, expectedRecords, NOW } from '../deliveries/attempt-samples.contract.js';
import { createDeliveryHistory } from '../deliveries/postgres-delivery-history.js';
import { createDeliveryProjection } from '../deliveries/postgres-delivery-projection.js';
import { createPathPartitions } from '../paths/postgres-path-projection.js';
import { createProjectedTopics } from '../progress/projected-topics.js';
import { emptyHistory } from './history-rebuild.js';

const LOGS = {
  deliveries: 'the-attempts',
  delivery_figures: 'the-attempts',
  path_points: 'the-pings',
  waiting_deliveries: 'the-deliveries',
};
const TOPIC = LOGS.deliveries;
const log = attemptsOf({ fleetId: 'fleet-a', firstAttemptAt: NOW - 60_000 }, 2, 'delivered');

let database: TestDatabase;
let dataSource: DataSource;
let pages: PageSource;
let client: pg.Client;

beforeAll(async () => {
  database = await createTestDatabase(requireTestStack().databaseUrl);
  dataSource = await createDataSource(database.url).initialize();
  pages = createPageSource(database.apiUrl);
  client = new pg.Client({ connectionString: database.url });
  await client.connect();
});
beforeEach(async () => {
  await client.query('TRUNCATE projection_positions, deliveries, delivery_figures, path_points');
});
afterAll(async () => {
  await client.end();
  await pages.close();
  await dataSource.destroy();
  await database.drop();
});

function projection() {
  return createDeliveryProjection({ dataSource, now: () => NOW });
}
function rows() {
  const query = { fleetId: 'fleet-a', startAt: 0, endAt: NOW, limit: 100 };
  return createDeliveryHistory({ pages })
    .findDeliveries(query)
    .then(({ records }) => records);
}
function batch(from: number | null, to: number) {
  return {
    topic: TOPIC,
    partition: 0,
    expectedOffset: from,
    nextOffset: to,
    attempts: log.slice(from ?? 0, to),
  };
}

describe('emptyHistory', () => {
  it('makes an active projector start again from the beginning of the log, with the same rows', async () => {
    const atWork = projection();
    await atWork.apply(batch(null, 2));
    expect(await emptyHistory(dataSource, LOGS)).toEqual({ type: 'emptied' });

    expect(await rows()).toEqual([]);
    expect(await atWork.apply(batch(2, 3))).toEqual({ type: 'superseded', storedOffset: null });
    expect(await atWork.apply(batch(null, 1))).toMatchObject({ type: 'applied' });
    expect(await atWork.apply(batch(1, 3))).toMatchObject({ type: 'applied' });
    expect(await rows()).toEqual(expectedRecords(log));
  });

  it('empties the paths too, and keeps the positions of other topics', async () => {
    await createPathPartitions(dataSource).ensurePartitions(NOW, NOW);
    await client.query(
      `INSERT INTO path_points (event_time, valid, fleet_id, device_id) VALUES ($1, true, 'fleet-a', 'van-1')`,
      [new Date(NOW)],
    );
    await client.query(`INSERT INTO projection_positions VALUES ('the-pings', 0, 5), ('another.topic', 0, 6)`);
    await emptyHistory(dataSource, LOGS);

    expect((await client.query('SELECT * FROM path_points')).rows).toEqual([]);
    expect((await client.query('SELECT topic FROM projection_positions')).rows).toEqual([{ topic: 'another.topic' }]);
  });

  it('frees a topic for another of its name, which is not the same while something of it is projected', async () => {
    const bound = createProjectedTopics(dataSource);
    expect(await bound.isBoundTo(TOPIC, 'first')).toBe(true);
    expect(await bound.isBoundTo(TOPIC, 'second')).toBe(true);
    await projection().apply(batch(null, 2));
    expect(await bound.isBoundTo(TOPIC, 'third')).toBe(false);
    expect(await bound.isBoundTo(TOPIC, 'second')).toBe(true);
    await emptyHistory(dataSource, LOGS);

    expect(await bound.isBoundTo(TOPIC, 'third')).toBe(true);
  });

  it('resolves to busy and changes nothing while a batch is open', async () => {
    await projection().apply(batch(null, 2));
    await client.query('BEGIN');
    await client.query('UPDATE projection_positions SET next_offset = 3');
    expect(await emptyHistory(dataSource, LOGS)).toEqual({ type: 'busy' });
    await client.query('ROLLBACK');

    expect(await projection().readPosition(TOPIC, 0)).toBe(2);
    expect(await rows()).toHaveLength(1);
    expect(await emptyHistory(dataSource, LOGS)).toEqual({ type: 'emptied' });
  });
});
