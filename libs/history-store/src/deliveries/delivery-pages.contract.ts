import { expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { DeliveryPosition, DeliveryQuery, DeliveryRecord, FoundDeliveries, WebhookAttempt } from '@waypost/domain';
import { attemptOf, attemptsOf, expectedRecords, NOW, uuidOf } from './attempt-samples.contract.js';
import type { ApplyResult } from './delivery-projection.js';

const DAY_MS = 86_400_000;

/** A log and a fleet in a store that only one test uses. */
export interface TestLog {
  readonly fleetId: string;
  readonly topic: string;
  /** An event id that no other test uses. */
  eventId(name: string): string;
  /** Applies the next batch of this log. */
  append(attempts: readonly WebhookAttempt[]): Promise<ApplyResult>;
  findPage(query?: Partial<DeliveryQuery>): Promise<FoundDeliveries>;
  /** Its records. */
  find(query?: Partial<DeliveryQuery>): Promise<readonly DeliveryRecord[]>;
}

/** How every store of deliveries pages through them; part of the contract of a delivery store. */
export function describePages(newLog: () => TestLog, numRuns: number): void {
  /** Thirty deliveries over three days in ties of three, of two devices, three types and all outcomes. */
  async function filledLog() {
    const log = newLog();
    const ends = ['delivered', 'failed', 'timed_out', 'open'] as const;
    const types = ['position', 'position_sleep', 'ignition_on'] as const;
    const attempts = Array.from({ length: 30 }, (_, index) => {
      const eventType = types[index % 3] ?? 'position';
      return attemptsOf(
        {
          fleetId: log.fleetId,
          eventId: log.eventId(String(index)),
          eventType,
          subscriptionId: uuidOf(eventType),
          deviceId: `device-${String(index % 2)}`,
          firstAttemptAt: NOW - 2 * DAY_MS + Math.floor(index / 3) * 5 * 3_600_000,
        },
        1,
        ends[index % 4] ?? 'open',
      );
    }).flat();
    await log.append(attempts);
    return { ...log, all: expectedRecords(attempts).sort(inPageOrder) };
  }

  it('are in the order of first attempt, event and series', async () => {
    const { find, all } = await filledLog();
    expect(await find()).toEqual(all);
  });

  it('are in the opposite order on request, in every walk and with every filter', async () => {
    const { find, all } = await filledLog();
    const filters: Partial<DeliveryQuery>[] = [
      {},
      { eventTypes: ['position'] },
      { eventTypes: ['position', 'ignition_on'] },
      { subscriptionId: uuidOf('position'), eventTypes: ['position', 'ignition_on'] },
      { subscriptionIds: [uuidOf('position'), uuidOf('ignition_on')] },
      { subscriptionIds: [uuidOf('position'), uuidOf('ignition_on')], eventTypes: ['position', 'position_sleep'] },
      { status: 'delivered' },
      { statusCode: 410 },
      { deviceId: 'device-1' },
      { startAt: all[6]?.firstAttemptAt ?? 0, endAt: all[20]?.firstAttemptAt ?? 0 },
    ];
    expect(await find({ order: 'desc' })).toEqual([...all].reverse());
    for (const filter of filters) {
      const pages = await walk((after) => find({ ...filter, order: 'desc', limit: 4, after }));
      expect(pages.flat()).toEqual((await find(filter)).toReversed());
    }
  });

  it.each([0, 0.5])('hold a window with its start and without its end, %d ms after a delivery', async (laterMs) => {
    const { find, all } = await filledLog();
    const timeAt = (index: number): number => (all[index]?.firstAttemptAt ?? 0) + laterMs;
    const [startAt, endAt] = [timeAt(6), timeAt(15)];
    expect(await find({ startAt, endAt })).toEqual(
      all.filter(({ firstAttemptAt }) => firstAttemptAt >= startAt && firstAttemptAt < endAt),
    );
    expect(await find({ startAt: endAt, endAt: startAt })).toEqual([]);
  });

  it('hold only what every filter says', async () => {
    const { find, all } = await filledLog();
    const cases: [Partial<DeliveryQuery>, (record: DeliveryRecord) => boolean][] = [
      [{ eventTypes: ['position'] }, ({ eventType }) => eventType === 'position'],
      [{ eventTypes: ['position', 'ignition_on', 'position'] }, ({ eventType }) => eventType !== 'position_sleep'],
      [{ eventTypes: [] }, () => true],
      [{ deviceId: 'device-1' }, ({ deviceId }) => deviceId === 'device-1'],
      [{ subscriptionId: uuidOf('ignition_on') }, ({ eventType }) => eventType === 'ignition_on'],
      [
        { subscriptionIds: [uuidOf('position'), uuidOf('ignition_on'), uuidOf('nobody')] },
        ({ eventType }) => eventType !== 'position_sleep',
      ],
      [{ subscriptionIds: [uuidOf('position')] }, ({ eventType }) => eventType === 'position'],
      [
        { subscriptionIds: [uuidOf('position'), uuidOf('ignition_on')], subscriptionId: uuidOf('position') },
        ({ eventType }) => eventType === 'position',
      ],
      ...(['position', 'ignition_on'] as const).map(
        (type): [Partial<DeliveryQuery>, (record: DeliveryRecord) => boolean] => [
          { subscriptionIds: [uuidOf(type), uuidOf('position_sleep')], eventTypes: ['position', 'ignition_on'] },
          ({ eventType }) => eventType === type,
        ],
      ),
      [
        { subscriptionIds: [uuidOf('position'), uuidOf('ignition_on')], deviceId: 'device-0', status: 'delivered' },
        ({ eventType, deviceId, status }) =>
          eventType !== 'position_sleep' && deviceId === 'device-0' && status === 'delivered',
      ],
      [
        { subscriptionIds: [uuidOf('position'), uuidOf('ignition_on')], statusCode: 200 },
        ({ eventType, statusCode }) => eventType !== 'position_sleep' && statusCode === 200,
      ],
      [
        { subscriptionIds: [uuidOf('position'), uuidOf(all[4]?.eventType ?? '')], eventId: all[4]?.eventId },
        ({ eventId }) => eventId === all[4]?.eventId,
      ],
      [{ eventId: all[4]?.eventId }, ({ eventId }) => eventId === all[4]?.eventId],
      [{ eventId: all[4]?.eventId.toUpperCase() }, ({ eventId }) => eventId === all[4]?.eventId],
      [{ statusCode: 410 }, ({ statusCode }) => statusCode === 410],
      [{ status: 'pending' }, ({ status }) => status === 'pending'],
      [{ status: 'failed' }, ({ status }) => status === 'failed'],
      [
        { eventTypes: ['position', 'position_sleep'], deviceId: 'device-0', status: 'delivered' },
        ({ eventType, deviceId, status }) =>
          eventType !== 'ignition_on' && deviceId === 'device-0' && status === 'delivered',
      ],
      [
        { eventTypes: ['position', 'position_sleep'], statusCode: 200 },
        ({ eventType, statusCode }) => eventType !== 'ignition_on' && statusCode === 200,
      ],
    ];
    for (const [filters, matches] of cases) expect(await find(filters)).toEqual(all.filter(matches));
    expect(cases.every(([, matches]) => all.some(matches))).toBe(true);
  });

  it('are empty for values that no row can have', async () => {
    const { find } = await filledLog();
    const impossible: Partial<DeliveryQuery>[] = [
      { subscriptionIds: [] },
      { subscriptionIds: [uuidOf('position')], subscriptionId: uuidOf('ignition_on') },
      { subscriptionIds: [uuidOf('nobody'), uuidOf('no one')] },
      { eventId: 'not a uuid' },
      { statusCode: 99_999_999_999 },
      { statusCode: 200.5 },
      { deviceId: 'x\0' },
      { deviceId: "' OR 1=1 --" },
      { eventTypes: ["position' OR 'a'='a"] },
      { startAt: NOW + DAY_MS, endAt: Number.MAX_SAFE_INTEGER },
      { startAt: -Number.MAX_SAFE_INTEGER, endAt: 0 },
    ];
    for (const filters of impossible) expect(await find(filters)).toEqual([]);
  });

  it("never show another fleet's deliveries", async () => {
    const { all } = await filledLog();
    const other = newLog();
    expect(await other.find({ eventId: all[0]?.eventId })).toEqual([]);
    expect(await other.find()).toEqual([]);
  });

  it('show every delivery once in a walk with any page size and filter', async () => {
    const { find, all } = await filledLog();
    const filters = fc.constantFrom<Partial<DeliveryQuery>>(
      {},
      { eventTypes: ['position', 'ignition_on'] },
      { status: 'delivered' },
      { deviceId: 'device-1' },
    );
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 32 }), filters, async (limit, filter) => {
        const pages = await walk((after) => find({ ...filter, limit, after }));
        expect(pages.every((page) => page.length <= limit)).toBe(true);
        expect(pages.flat()).toEqual(await find(filter));
      }),
      { numRuns },
    );
    expect(all).toHaveLength(30);
  });

  it('end when their bytes are reached, and say that there is more (R-34a)', async () => {
    const { fleetId, eventId, append, find, findPage } = newLog();
    /** A page has room for three bodies of the second size, and none of the last. */
    const bodyBytes = [100, 1_390_000, 1_390_000, 1_390_000, 1_390_000, 100, 4_500_000, 100, 4_500_000];
    await append(
      bodyBytes.map((bytes, index) =>
        attemptOf({
          fleetId,
          eventId: eventId(`large ${String(index)}`),
          startedAt: NOW - 60_000 + index,
          body: `"${'\u00e9'.repeat(bytes / 2 - 1)}"`,
        }),
      ),
    );
    const lengthsOf = async (order: 'asc' | 'desc') => {
      const lengths: number[] = [];
      let after: DeliveryPosition | undefined;
      do {
        const { records, hasMore } = await findPage({ order, after, limit: 8 });
        lengths.push(records.length);
        after = hasMore ? records.at(-1) : undefined;
      } while (after !== undefined);
      return lengths;
    };
    expect(await lengthsOf('asc')).toEqual([4, 2, 1, 1, 1]);
    expect(await lengthsOf('desc')).toEqual([1, 1, 1, 4, 2]);
    const pages = await walk((after) => find({ after }));
    expect(pages.flat().map(({ body }) => Buffer.byteLength(body))).toEqual(bodyBytes);
  });

  it('say that there is more when there is, and only then', async () => {
    const { findPage, all } = await filledLog();
    expect((await findPage({ limit: all.length - 1 })).hasMore).toBe(true);
    expect((await findPage({ limit: all.length })).hasMore).toBe(false);
    expect(await findPage({ after: all.at(-1) })).toMatchObject({ records: [], hasMore: false });
  });

  it('show every delivery that existed at the start exactly once while others are written', async () => {
    const { find, append, fleetId, eventId, all } = await filledLog();
    let written = 0;
    const pages = await walk(async (after) => {
      written += 1;
      const firstAttemptAt = NOW - 2 * DAY_MS + ((written * 7) % 50) * 3_600_000;
      await append([attemptOf({ fleetId, eventId: eventId(`new ${String(written)}`), firstAttemptAt })]);
      return find({ limit: 4, after });
    });

    const seen = pages.flat().map(({ eventId }) => eventId);
    expect(new Set(seen).size).toBe(seen.length);
    expect(seen).toEqual(expect.arrayContaining(all.map(({ eventId }) => eventId)));
  });
}

/** All pages, including the empty one at the end. */
async function walk(
  page: (after?: DeliveryPosition) => Promise<readonly DeliveryRecord[]>,
): Promise<DeliveryRecord[][]> {
  const pages: DeliveryRecord[][] = [];
  for (let last: DeliveryRecord | undefined; ;) {
    const found = await page(last);
    pages.push([...found]);
    last = found.at(-1);
    if (last === undefined) return pages;
  }
}

export function inPageOrder(a: DeliveryRecord, b: DeliveryRecord): number {
  const keyOf = ({ firstAttemptAt, eventId, series }: DeliveryRecord): string =>
    [String(firstAttemptAt).padStart(15, '0'), eventId, String(series).padStart(10, '0')].join();
  return keyOf(a) < keyOf(b) ? -1 : 1;
}
