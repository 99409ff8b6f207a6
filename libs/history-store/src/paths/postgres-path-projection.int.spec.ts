import { beforeAll, describe, expect, it } from '@jest/globals';
import type { PathPoint, PathQuery } from '@waypost/domain';
import { useTestHistory } from '../../../../test/support/test-history.js';
import { explainQuery, type PlanNode } from '../sql/explain-query.js';
import { foldOf, NOW, pointOf } from './path-samples.contract.js';
import { describePathStore } from './path-store.contract.js';
import { createPathHistory, findPointsSql } from './postgres-path-history.js';
import { createPathPartitions, createPathProjection } from './postgres-path-projection.js';

const suite = useTestHistory({ poolSize: 8 });

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;

function openStore() {
  return Promise.resolve({
    projection: createPathProjection({ dataSource: suite.dataSource, now: () => NOW }),
    history: createPathHistory({ pages: suite.pages }),
    close: () => Promise.resolve(),
  });
}

describePathStore('PostgreSQL', openStore, 25);

/** Ten devices of one fleet: each ping comes twice, the second time with another speed and, mostly, in another batch. */
function sampleLog(fleetId: string, pings: number): PathPoint[] {
  const ping = (n: number, speedInKmh: number): PathPoint =>
    pointOf({ fleetId, deviceId: String(n % 10), eventTime: NOW - Math.floor(n / 10) * 600_000, speedInKmh });
  return Array.from({ length: pings }, (_, n) => [ping(n, 1), ping(Math.floor(n / 2), 2)]).flat();
}

/** By the bytes of the ids, as all are digits. */
function byPosition(a: PathPoint, b: PathPoint): number {
  return Number(a.deviceId) - Number(b.deviceId) || a.eventTime - b.eventTime;
}

function rowsOf(fleetId: string): Promise<PathPoint[]> {
  return createPathHistory({ pages: suite.pages }).findPoints({ fleetId, startAt: 0, endAt: NOW + 1, limit: 10_000 });
}

function batchOf(topic: string, log: readonly PathPoint[], from: number | null, to: number) {
  return { topic, partition: 0, expectedOffset: from, nextOffset: to, points: log.slice(from ?? 0, to) };
}

describe('the projection of paths into PostgreSQL', () => {
  it('gives the fold of the log while three projectors race over one partition with batches of their own', async () => {
    const log = sampleLog('race', 300);
    const racer = async (size: number): Promise<number> => {
      const projection = createPathProjection({ dataSource: suite.dataSource, now: () => NOW });
      let applied = 0;
      for (let at = await projection.readPosition('race', 0); at !== log.length;) {
        const next = Math.min((at ?? 0) + size, log.length);
        const result = await projection.apply(batchOf('race', log, at, next));
        if (result.type === 'applied') applied += next - (at ?? 0);
        at = result.type === 'applied' ? next : result.storedOffset;
      }
      return applied;
    };
    const applied = await Promise.all([racer(7), racer(11), racer(23)]);

    expect(applied.reduce((sum, records) => sum + records, 0)).toBe(log.length);
    expect(await rowsOf('race')).toEqual(foldOf(log).sort(byPosition));
  });

  it('stores each ping once when writers of two partitions write the same pings at once', async () => {
    const log = sampleLog('shared', 400);
    const writer = async (partition: number, points: readonly PathPoint[]): Promise<number> => {
      const projection = createPathProjection({ dataSource: suite.dataSource, now: () => NOW });
      let stored = 0;
      for (let at = 0; at < points.length; at += 50) {
        const batch = { ...batchOf('shared', points, at === 0 ? null : at, at + 50), partition };
        const result = await projection.apply(batch);
        if (result.type !== 'applied') throw new Error('no other process writes this partition');
        stored += result.stored;
      }
      return stored;
    };
    const stored = await Promise.all([writer(0, log), writer(1, log.toReversed())]);

    const places = foldOf(log).sort(byPosition);
    expect(stored[0] + stored[1]).toBe(places.length);
    const withoutSpeed = (points: PathPoint[]) => points.map((point) => ({ ...point, speedInKmh: null }));
    expect(withoutSpeed(await rowsOf('shared'))).toEqual(withoutSpeed(places));
  });

  it('drops the days that are entirely older than the retention and the walks over it, of the paths only (R-35)', async () => {
    const partitions = createPathPartitions(suite.dataSource);
    await partitions.ensurePartitions(NOW - 18 * DAY_MS, NOW - 15 * DAY_MS);
    await partitions.detachExpired(NOW);
    expect(await partitions.dropDetached(NOW)).toEqual({
      type: 'dropped',
      partitions: ['path_points_20260602', 'path_points_20260603'],
    });
    const rows: { relname: string }[] = await suite.dataSource.query(
      `SELECT relname FROM pg_class WHERE relname LIKE 'path\\_points\\_2026060%' AND relkind = 'r' ORDER BY 1`,
    );
    expect(rows).toEqual([{ relname: 'path_points_20260604' }, { relname: 'path_points_20260605' }]);
  });
});

describe('the plan of a page of paths', () => {
  const DEVICES = 50;
  const PINGS_PER_DAY = 288;

  /** Four days, a ping of each device every five minutes. */
  beforeAll(async () => {
    await createPathPartitions(suite.dataSource).ensurePartitions(NOW - 4 * DAY_MS, NOW);
    await suite.dataSource.query(
      `INSERT INTO path_points (fleet_id, device_id, event_time, valid)
       SELECT 'plans', 'device-' || lpad(d::text, 2, '0'), $1::timestamptz - n * interval '5 minutes', true
         FROM generate_series(1, $2::integer) AS n, generate_series(1, $3::integer) AS d`,
      [new Date(NOW).toISOString(), 4 * PINGS_PER_DAY, DEVICES],
    );
    await suite.dataSource.query('VACUUM ANALYZE path_points');
  });

  type CountedNode = PlanNode & { readonly 'Shared Hit Blocks': number; readonly 'Shared Read Blocks': number };

  /** The nodes of the plan that the query is really run with, and the pages of tables and indexes that it looks at. */
  async function planOf(query: Partial<PathQuery>) {
    const sql = findPointsSql({
      fleetId: 'plans',
      startAt: NOW - 2 * DAY_MS,
      endAt: NOW - DAY_MS,
      limit: 100,
      ...query,
    });
    const nodes = await explainQuery(suite.pages, 'plans', sql);
    const [root, ...rest] = nodes as CountedNode[];
    if (root === undefined) throw new Error('no plan');
    const executed = rest.filter((node) => node['Actual Loops'] > 0);
    return {
      types: executed.map((node) => node['Node Type']),
      tables: [...new Set(executed.flatMap((node) => node['Relation Name'] ?? []))].sort(),
      indexes: executed.flatMap((node) => node['Index Name'] ?? []),
      blocks: root['Shared Hit Blocks'] + root['Shared Read Blocks'],
    };
  }

  const position = { deviceId: 'device-25', eventTime: NOW - 2 * DAY_MS + 6 * HOUR_MS };
  const cases: [string, Partial<PathQuery>][] = [
    ['first', {}],
    ['first of some devices', { deviceIds: ['device-07', 'device-31'] }],
    ['later', { after: position }],
    ['later of some devices', { deviceIds: ['device-25', 'device-31'], after: position }],
  ];

  // NOW is noon: a window of a day from noon to noon.
  it.each(cases)('touches, for the %s page, only the days of its window, through their keys', async (_, query) => {
    const plan = await planOf(query);
    expect(plan.tables).toEqual(['path_points_20260618', 'path_points_20260619']);
    expect(plan.types).not.toContain('Seq Scan');
    expect(plan.indexes.every((index) => index.endsWith('_pkey'))).toBe(true);
  });

  it('costs the same at any page of the walk and for any window (R-34)', async () => {
    const hour = { startAt: NOW - DAY_MS, endAt: NOW - DAY_MS + HOUR_MS };
    const first = await planOf(hour);
    for (const device of ['device-10', 'device-30', 'device-40']) {
      const later = await planOf({ ...hour, after: { deviceId: device, eventTime: hour.startAt + 900_000 } });
      expect(later.blocks).toBeLessThan(first.blocks + 100);
    }
    // A hundred points of nine devices, a few pages of the index for each: far from all that these have in a day.
    expect(first.blocks).toBeLessThan(300);
  });
});
