import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { DataSource } from 'typeorm';
import { createDataSource, createPageSource, type PageSource } from '@waypost/database';
import type { ShownDelivery, WebhookAttempt } from '@waypost/domain';
import {
  createDeliveryHistory,
  createDeliveryProjection,
  createProjectionProgress,
  createWaitingProjection,
} from '@waypost/history-store';
import { createTestDatabase, type TestDatabase } from '../../../../test/support/test-database.js';
import { requireTestStack } from '../../../../test/support/test-stack.js';
import { DeliveryPageStates } from '../paging/page-states.js';
import { attemptOf, type DeliveryPlan, NOW, uuidOf } from '../testing/walked-deliveries.js';
import { DeliveryPagesService } from './delivery-pages.service.js';

let database: TestDatabase;
let dataSource: DataSource;
let source: PageSource;
let pages: DeliveryPagesService;
let partitions = 0;

beforeAll(async () => {
  database = await createTestDatabase(requireTestStack().databaseUrl);
  dataSource = await createDataSource(database.url).initialize();
  source = createPageSource(database.apiUrl);
  await createProjectionProgress(dataSource).begin('webhook.attempts', 200);
  pages = new DeliveryPagesService(
    createDeliveryHistory({ pages: source }),
    new DeliveryPageStates({ pageTokenKeys: [Buffer.alloc(32, 3)] }, () => NOW),
    () => NOW,
  );
});
afterAll(async () => {
  await source.close();
  await dataSource.destroy();
  await database.drop();
});

/** Pending for ever: each attempt gets a 503. */
function planOf(event: number, firstAttemptAt: number): DeliveryPlan {
  const answers = [503, 503, 503, 503];
  return { event, series: 0, device: 'd', type: 'position', subscription: uuidOf('s'), firstAttemptAt, answers };
}

/** A fleet whose deliveries wait, or were attempted without having to. */
function newFleet() {
  partitions += 1;
  const partition = partitions;
  const fleetId = `fleet-${String(partition)}`;
  const waiting = createWaitingProjection({ dataSource, now: () => NOW });
  const projection = createDeliveryProjection({ dataSource, now: () => NOW });
  const positions = new Map<string, number>();
  function next(topic: string) {
    const offset = positions.get(topic);
    positions.set(topic, (offset ?? 0) + 1);
    return { topic, partition, expectedOffset: offset ?? null, nextOffset: (offset ?? 0) + 1 };
  }
  return {
    fleetId,
    async attempt(attempts: readonly WebhookAttempt[]): Promise<void> {
      const batch = { ...next('webhook.attempts'), completeUntil: NOW, attempts };
      expect(await projection.apply(batch)).toMatchObject({ type: 'applied' });
    },
    async wait(plans: readonly DeliveryPlan[], large?: string): Promise<void> {
      const deliveries = plans.map((plan) => {
        const { deliveryCreatedAt: createdAt, body, ...fields } = attemptOf(fleetId, plan, 1);
        const { eventId, subscriptionId, deviceId, eventType, eventTime, format, series, replayId } = fields;
        const of = { eventId, subscriptionId, fleetId, deviceId, eventType, eventTime, format, series, replayId };
        return { ...of, createdAt, body: large ?? body ?? '' };
      });
      const stored = await waiting.apply({ ...next('webhook.deliveries'), deliveries });
      expect(stored).toEqual({ type: 'applied', waiting: plans.length });
    },
  };
}
type Fleet = ReturnType<typeof newFleet>;

async function walk(
  { fleetId }: Fleet,
  { order, limit, endAt }: { order: 'asc' | 'desc'; limit: number; endAt?: number | undefined },
  beforeEachPage: (page: number) => Promise<void>,
  lengths: number[] = [],
): Promise<ShownDelivery[]> {
  const filters = { status: 'pending' as const, order, endAt };
  const shown: ShownDelivery[] = [];
  let pageState: string | undefined;
  for (let count = 0; ; count += 1) {
    await beforeEachPage(count);
    const page = await pages.readPending({
      caller: { fleetId, subscriptionIds: null },
      path: '/public/v2/events',
      filters,
      limit,
      pageState,
    });
    expect(page.records.length).toBeLessThanOrEqual(limit);
    lengths.push(page.records.length);
    shown.push(...page.records);
    if (page.nextPageState === null) return shown;
    pageState = page.nextPageState;
  }
}

describe('a walk over the pending deliveries (R-33, R-34)', () => {
  it('shows each once, also those that have their first attempt while it goes on, in both orders', async () => {
    const walks = fc.record({
      order: fc.constantFrom('asc' as const, 'desc' as const),
      limit: fc.integer({ min: 1, max: 5 }),
      endAt: fc.constantFrom(undefined, NOW),
      attempted: fc.integer({ min: 0, max: 6 }),
      waiting: fc.integer({ min: 0, max: 8 }),
      /** Which of the waiting ones are attempted before each page. */
      turns: fc.array(fc.nat(7), { maxLength: 12 }),
      /** Long after they were created: among the others, or after the end of the window. */
      firstAttemptAt: fc.constantFrom(NOW - 8_998, NOW + 1_000),
    });
    await fc.assert(
      fc.asyncProperty(walks, async ({ order, limit, endAt, attempted, waiting, turns, firstAttemptAt }) => {
        const fleet = newFleet();
        const sent = Array.from({ length: attempted }, (_, n) => planOf(n, NOW - 9_000 + n));
        const held = Array.from({ length: waiting }, (_, n) => planOf(100 + n, NOW - 60_000 + n));
        await fleet.attempt(sent.map((plan) => attemptOf(fleet.fleetId, plan, 1)));
        await fleet.wait(held);
        const begun = new Set<number>();
        const shown = await walk(fleet, { order, limit, endAt }, async (page) => {
          const turn = turns[page];
          const plan = turn === undefined ? undefined : held[turn];
          if (plan === undefined || turn === undefined || begun.has(turn)) return;
          begun.add(turn);
          const first = attemptOf(fleet.fleetId, { ...plan, firstAttemptAt }, 1);
          await fleet.attempt([{ ...first, deliveryCreatedAt: plan.firstAttemptAt - 10 }]);
        });
        const expected = [...sent, ...held].map((plan) => attemptOf(fleet.fleetId, plan, 1).eventId);
        const eventIds = shown.map(({ eventId }) => eventId);
        expect(order === 'asc' ? eventIds : eventIds.toReversed()).toEqual(expected);
      }),
      { numRuns: 40 },
    );
  });
});

describe('a page of pending deliveries', () => {
  it.each([
    { name: 'both kinds on it', sent: 3, held: 2, expected: [4, 1] },
    { name: 'no room for one of the other kind', sent: 4, held: 2, expected: [4, 2] },
  ])('has no more bytes with $name than any page (R-34a)', async ({ sent, held, expected }) => {
    const fleet = newFleet();
    const body = `{"n":"${'x'.repeat(1_000_000)}"}`;
    const plansOf = (count: number, from: number) =>
      Array.from({ length: count }, (_, n) => planOf(from + n, NOW - from + n));
    const attempted = plansOf(sent, 9_000).map((plan) => attemptOf(fleet.fleetId, plan, 1));
    await fleet.attempt(attempted.map((attempt) => ({ ...attempt, body })));
    await fleet.wait(plansOf(held, 60_000), body);
    for (const order of ['asc', 'desc'] as const) {
      const lengths: number[] = [];
      const shown = await walk(fleet, { order, limit: 10 }, () => Promise.resolve(), lengths);
      expect(shown).toHaveLength(sent + held);
      expect(lengths).toEqual(expected);
    }
  });
});

describe('the deliveries of an event (R-33)', () => {
  const SERIES = [0, 1, 2, 3, 4];

  /** An event of which the first delivery was attempted, and those of replays wait. */
  async function newEvent() {
    const fleet = newFleet();
    const plans = SERIES.map((series) => ({ ...planOf(1, NOW - 50_000 + series), series, answers: [200] }));
    const [first, ...waiting] = plans;
    if (first === undefined) throw new Error('There is a first delivery.');
    await fleet.attempt([attemptOf(fleet.fleetId, first, 1)]);
    await fleet.wait(waiting);
    const { eventId } = attemptOf(fleet.fleetId, first, 1);
    return {
      end: async (series: number): Promise<void> => {
        const plan = plans[series] ?? first;
        const made = attemptOf(fleet.fleetId, { ...plan, firstAttemptAt: NOW - 1_000 - series }, 1);
        await fleet.attempt([{ ...made, deliveryCreatedAt: plan.firstAttemptAt - 10 }]);
      },
      read: (limit: number, pageState?: string) =>
        pages.readEvent({
          caller: { fleetId: fleet.fleetId, subscriptionIds: null },
          path: `/public/v2/events/${eventId}`,
          eventId,
          limit,
          pageState,
        }),
    };
  }

  it('are in the order of their series, with those that wait, page by page', async () => {
    const event = await newEvent();
    await event.end(2);
    for (const limit of [1, 2, 3, 10]) {
      const shown: (readonly [series: number, firstAttemptAt: number | null])[] = [];
      let pageState: string | undefined;
      do {
        const page = await event.read(limit, pageState);
        expect(page.records.length).toBeLessThanOrEqual(limit);
        shown.push(...page.records.map(({ series, firstAttemptAt }) => [series, firstAttemptAt] as const));
        pageState = page.nextPageState ?? undefined;
      } while (pageState !== undefined);
      expect(shown).toEqual([
        [0, NOW - 50_000],
        [1, null],
        [2, NOW - 1_002],
        [3, null],
        [4, null],
      ]);
    }
  });

  it('are each shown once when some of them are attempted between two pages (R-34)', async () => {
    const walks = fc.record({
      limit: fc.integer({ min: 1, max: 3 }),
      /** Which of them end before each page. */
      turns: fc.array(fc.constantFrom(...SERIES.slice(1)), { maxLength: SERIES.length }),
    });
    await fc.assert(
      fc.asyncProperty(walks, async ({ limit, turns }) => {
        const event = await newEvent();
        const left = [...turns];
        const ended = new Set<number>();
        const shown: number[] = [];
        let pageState: string | undefined;
        do {
          const page = await event.read(limit, pageState);
          shown.push(...page.records.map(({ series }) => series));
          pageState = page.nextPageState ?? undefined;
          for (const series of left.splice(0, 2)) {
            if (!ended.has(series)) await event.end(series);
            ended.add(series);
          }
        } while (pageState !== undefined);
        expect(shown).toEqual(SERIES);
      }),
      { numRuns: 30 },
    );
  });
});
