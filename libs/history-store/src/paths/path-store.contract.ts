import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { PathHistory, PathPoint, PathPosition, PathQuery } from '@waypost/domain';
import type { ApplyPathsResult, PathProjection } from './path-projection.js';
import { anyLog, DEVICE_IDS, foldOf, NOW, pointOf, SORTED_DEVICE_IDS } from './path-samples.contract.js';

export interface OpenedPathStore {
  readonly projection: PathProjection;
  readonly history: PathHistory;
  close(): Promise<void>;
}

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
const ALL_OF_IT = { startAt: NOW - 30 * DAY_MS, endAt: NOW + 30 * DAY_MS, limit: 1_000 };

/** The behavior of every store of paths. `open` uses a fixed clock: NOW. */
export function describePathStore(kind: string, open: () => Promise<OpenedPathStore>, numRuns: number): void {
  describe(`path store (${kind})`, () => {
    let store: OpenedPathStore;
    let logs = 0;

    beforeAll(async () => {
      store = await open();
    });
    afterAll(() => store.close());

    /** A log and a fleet that no other test uses. */
    function newLog() {
      logs += 1;
      const fleetId = `fleet-${String(logs)}`;
      const topic = `pings-${String(logs)}`;
      let position: number | null = null;
      return {
        fleetId,
        topic,
        point: (fields: Partial<PathPoint> = {}): PathPoint => pointOf({ fleetId, ...fields }),
        /** Applies the next batch of this log. */
        async append(points: readonly PathPoint[]): Promise<ApplyPathsResult> {
          const nextOffset = (position ?? 0) + points.length + 1;
          const result = await store.projection.apply({
            topic,
            partition: 0,
            expectedOffset: position,
            nextOffset,
            points,
          });
          if (result.type === 'applied') position = nextOffset;
          return result;
        },
        find: (query: Partial<PathQuery> = {}): Promise<PathPoint[]> =>
          store.history.findPoints({ fleetId, ...ALL_OF_IT, ...query }),
      };
    }

    describe('projection', () => {
      it('keeps every field of a ping', async () => {
        const { append, find, point } = newLog();
        const full = point({
          latitude: -33.856_784_123_456_78,
          longitude: 151.215_296,
          speedInKmh: 0,
          heading: 359.999,
          ignition: false,
          odometerInMeters: Number.MAX_SAFE_INTEGER,
          rpm: 2_147_483_647,
          fuelLevel: 0.1,
        });
        const bare = point({ deviceId: 'device-2', latitude: null, longitude: null, valid: false });
        expect(await append([full, bare])).toEqual({ type: 'applied', stored: 2, repeated: 0, expired: 0, ahead: 0 });
        expect(await find()).toEqual([full, bare]);
      });

      it('puts a late ping in its place (R-4)', async () => {
        const { append, find, point } = newLog();
        const [first, late, last] = [3, 2, 1].map((hours) => point({ eventTime: NOW - hours * HOUR_MS }));
        await append([first, last] as PathPoint[]);
        await append([late] as PathPoint[]);
        expect(await find()).toEqual([first, late, last]);
      });

      it('keeps the first of several pings with one device and time, in a batch and across batches', async () => {
        const { append, find, point } = newLog();
        const [first, second, third] = [10, 20, 30].map((speedInKmh) => point({ speedInKmh }));
        expect(await append([first, second] as PathPoint[])).toMatchObject({ stored: 1, repeated: 1 });
        expect(await append([third, third, point({ deviceId: 'other' })] as PathPoint[])).toMatchObject({
          stored: 1,
          repeated: 2,
        });
        expect(await find({ deviceIds: ['device-1'] })).toEqual([first]);
      });

      it('keeps devices of the same name in two fleets separate', async () => {
        const [one, other] = [newLog(), newLog()];
        await one.append([one.point({ speedInKmh: 1 })]);
        await other.append([other.point({ speedInKmh: 2 })]);
        expect(await one.find()).toEqual([one.point({ speedInKmh: 1 })]);
        expect(await other.find()).toEqual([other.point({ speedInKmh: 2 })]);
      });

      it('keeps days that are partly within the retention, and no earlier ones (R-35)', async () => {
        const { append, find, point } = newLog();
        // At noon of the 20th the retention reaches back to noon of the 5th.
        const oldest = point({ eventTime: Date.UTC(2026, 5, 5) });
        const result = await append([point({ eventTime: Date.UTC(2026, 5, 5) - 1 }), point({ eventTime: 0 }), oldest]);
        expect(result).toMatchObject({ stored: 1, expired: 2 });
        expect(await find()).toEqual([oldest]);
      });

      it('keeps no ping that is further in the future than the retention is long', async () => {
        const { append, find, point } = newLog();
        const newest = point({ eventTime: NOW + 15 * DAY_MS });
        const far = [NOW + 15 * DAY_MS + 1, Date.UTC(9999, 11, 31)].map((eventTime) => point({ eventTime }));
        expect(await append([...far, newest])).toMatchObject({ stored: 1, ahead: 2 });
        expect(await find()).toEqual([newest]);
      });

      it('moves the position over a batch without points', async () => {
        const { append, topic } = newLog();
        await append([]);
        expect(await store.projection.readPosition(topic, 0)).toBe(1);
        expect(await store.projection.readPosition(topic, 1)).toBeNull();
      });

      it('writes nothing if the position is not where the batch begins', async () => {
        const { append, find, point, topic } = newLog();
        await append([point()]);
        const batch = { topic, partition: 0, nextOffset: 9, points: [point({ deviceId: 'stray' })] };
        for (const expectedOffset of [null, 1, 3]) {
          expect(await store.projection.apply({ ...batch, expectedOffset })).toEqual({
            type: 'superseded',
            storedOffset: 2,
          });
        }
        expect(await find()).toEqual([point()]);
      });

      it('gives the same points for any log in any batches', async () => {
        const cuts = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, size: 'medium' });
        await fc.assert(
          fc.asyncProperty(anyLog('any'), cuts, async (sampled, sizes) => {
            const { append, find, fleetId } = newLog();
            const log = sampled.map((point) => ({ ...point, fleetId }));
            for (let at = 0, round = 0; at < log.length; round += 1) {
              const next = at + (sizes[round % sizes.length] ?? 1);
              await append(log.slice(at, next));
              at = next;
            }
            expect(await find()).toEqual(foldOf(log));
          }),
          { numRuns },
        );
      });
    });

    describe('pages', () => {
      /** Every device, every two hours of two days. */
      async function filledLog() {
        const log = newLog();
        const points = DEVICE_IDS.flatMap((deviceId) =>
          Array.from({ length: 24 }, (_, n) => log.point({ deviceId, eventTime: NOW - n * 2 * HOUR_MS })),
        );
        await log.append(points);
        return { ...log, all: foldOf(points) };
      }

      it('are ordered by the bytes of the device id, then by event time', async () => {
        const { find, all } = await filledLog();
        const found = await find();
        expect(found).toEqual(all);
        expect([...new Set(found.map(({ deviceId }) => deviceId))]).toEqual(SORTED_DEVICE_IDS);
      });

      it('include the start of the window and exclude its end', async () => {
        const { append, find, point } = newLog();
        const points = [3, 2, 1].map((ms) => point({ eventTime: NOW - ms }));
        await append(points);
        expect(await find({ startAt: NOW - 3, endAt: NOW - 1 })).toEqual(points.slice(0, 2));
        expect(await find({ startAt: NOW - 2, endAt: NOW })).toEqual(points.slice(1));
        expect(await find({ startAt: NOW - 2, endAt: NOW - 2 })).toEqual([]);
      });

      it('hold the given devices, in whatever order and however often they are given', async () => {
        const { find, all } = await filledLog();
        const deviceIds = ['🚚', 'device-9', 'unknown', '🚚', 'Z'];
        expect(await find({ deviceIds })).toEqual(all.filter(({ deviceId }) => deviceIds.includes(deviceId)));
        expect(await find({ deviceIds: [] })).toEqual([]);
      });

      it('are empty for values that no point can have', async () => {
        const { find } = await filledLog();
        const impossible: Partial<PathQuery>[] = [
          { deviceIds: ['a\0'] },
          { deviceIds: ["' OR 1=1 --", '{a,b}', 'NULL'] },
          { startAt: NOW + 20 * DAY_MS, endAt: Number.MAX_SAFE_INTEGER },
          { startAt: -Number.MAX_SAFE_INTEGER, endAt: 0 },
        ];
        for (const filters of impossible) expect(await find(filters)).toEqual([]);
      });

      it('show every point once in a walk with any page size, window and devices', async () => {
        const { find, all } = await filledLog();
        const hours = fc.integer({ min: 0, max: 50 }).map((ago) => NOW + 1 - ago * HOUR_MS);
        const devices = fc.option(fc.subarray([...DEVICE_IDS]), { nil: undefined });
        await fc.assert(
          fc.asyncProperty(fc.integer({ min: 1, max: 50 }), hours, hours, devices, async (limit, a, b, deviceIds) => {
            const window = { startAt: Math.min(a, b), endAt: Math.max(a, b), deviceIds };
            const pages = await walk((after) => find({ ...window, limit, after }));
            expect(pages.every((page) => page.length <= limit)).toBe(true);
            expect(pages.flat()).toEqual(
              all.filter(
                ({ eventTime, deviceId }) =>
                  eventTime >= window.startAt &&
                  eventTime < window.endAt &&
                  deviceIds?.includes(deviceId as never) !== false,
              ),
            );
          }),
          { numRuns },
        );
      });

      it('show every point that existed at the start exactly once while others are written', async () => {
        const { find, append, point, all } = await filledLog();
        let written = 0;
        const pages = await walk(async (after) => {
          written += 1;
          const deviceId = DEVICE_IDS[written % DEVICE_IDS.length];
          // Some times are new, and some exist already.
          const eventTime = NOW - ((written * 7) % 48) * HOUR_MS - (written % 3) * 60_000;
          await append([point({ deviceId: String(deviceId), eventTime, speedInKmh: 99 })]);
          return find({ limit: 4, after });
        });

        const keys = pages.flat().map(({ deviceId, eventTime }) => `${deviceId} ${String(eventTime)}`);
        expect(new Set(keys).size).toBe(keys.length);
        expect(pages.flat()).toEqual(expect.arrayContaining(all));
        expect(pages.flat().length).toBeGreaterThan(all.length);
      });
    });
  });
}

/** All pages, including the empty one at the end. */
async function walk(page: (after?: PathPosition) => Promise<PathPoint[]>): Promise<PathPoint[][]> {
  const pages: PathPoint[][] = [];
  for (let last: PathPosition | undefined; ;) {
    const found = await page(last);
    pages.push(found);
    last = found.at(-1);
    if (last === undefined) return pages;
  }
}
