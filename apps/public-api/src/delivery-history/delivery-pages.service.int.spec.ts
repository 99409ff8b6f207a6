import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { createDataSource, createPageSource, type PageSource } from '@waypost/database';
import { RETENTION_MS, type WebhookAttempt } from '@waypost/domain';
import { createDeliveryHistory, createDeliveryProjection, type DeliveryProjection } from '@waypost/history-store';
import { createTestDatabase, type TestDatabase } from '../../../../test/support/test-database.js';
import { requireTestStack } from '../../../../test/support/test-stack.js';
import { DeliveryPageStates } from '../paging/page-states.js';
import {
  anyWalk,
  attemptOf,
  type DeliveryPlan,
  NOW,
  uuidOf,
  type WalkPlan,
  type Write,
} from '../testing/walked-deliveries.js';
import type { DeliveryPage } from './delivery-page.js';
import { type DeliveryFilters, DeliveryPagesService } from './delivery-pages.service.js';

const PATH = '/public/v2/events';
const KEY = Buffer.alloc(32, 3);
const RUNS = 60;

let database: TestDatabase;
let dataSource: ReturnType<typeof createDataSource>;
let source: PageSource;
let projection: DeliveryProjection;
let pages: DeliveryPagesService;
let walks = 0;

beforeAll(async () => {
  database = await createTestDatabase(requireTestStack().databaseUrl);
  dataSource = await createDataSource(database.url).initialize();
  source = createPageSource(database.apiUrl);
  projection = createDeliveryProjection({ dataSource, now: () => NOW });
  pages = new DeliveryPagesService(
    createDeliveryHistory({ pages: source }),
    new DeliveryPageStates({ pageTokenKeys: [KEY] }, () => NOW),
    () => NOW,
  );
});
afterAll(async () => {
  await source.close();
  await dataSource.destroy();
  await database.drop();
});

/** What a delivery was at some moment; which of these a reader gets depends on when it looks. */
type State = Pick<WebhookAttempt, 'attempt' | 'statusCode' | 'outcome'>;

interface Known {
  readonly plan: DeliveryPlan;
  readonly isThere: boolean;
  /** From the beginning of the walk on. */
  readonly states: State[];
}

/** A fleet of its own, with its log and what must be in its history. */
function newFleet() {
  walks += 1;
  const fleetId = `fleet-${String(walks)}`;
  const known = new Map<string, Known>();
  let position: number | null = null;
  let walkHasBegun = false;

  const keyOf = (plan: DeliveryPlan): string => `${attemptOf(fleetId, plan, 1).eventId}/${String(plan.series)}`;

  function attempted(plan: DeliveryPlan, attempt: number): WebhookAttempt {
    const made = attemptOf(fleetId, plan, attempt);
    const key = keyOf(plan);
    const before = known.get(key) ?? { plan, isThere: !walkHasBegun, states: [] };
    if (!walkHasBegun) before.states.length = 0;
    before.states.push(made);
    known.set(key, before);
    return made;
  }

  function attemptsOf(write: Write): WebhookAttempt[] {
    if (write.type === 'begin') return known.has(keyOf(write.plan)) ? [] : [attempted(write.plan, 1)];
    const pending = [...known.values()].filter(({ states }) => states.at(-1)?.outcome === 'retrying');
    const found = pending[write.which % Math.max(1, pending.length)];
    return found === undefined ? [] : [attempted(found.plan, (found.states.at(-1)?.attempt ?? 0) + 1)];
  }

  return {
    fleetId,
    known,
    beginWalk: () => {
      walkHasBegun = true;
    },
    async write(writes: readonly Write[], into = projection): Promise<void> {
      const attempts = writes.flatMap(attemptsOf);
      const nextOffset: number = (position ?? 0) + attempts.length + 1;
      const batch = { topic: fleetId, partition: 0, expectedOffset: position, nextOffset, attempts };
      expect(await into.apply(batch)).toMatchObject({ type: 'applied', headlessDeliveries: 0 });
      position = nextOffset;
    },
  };
}
type Fleet = ReturnType<typeof newFleet>;

/** The pages of a walk, each read while something is written. */
async function walk(
  fleet: Fleet,
  { filters, limits, writes }: WalkPlan,
): Promise<{ page: DeliveryPage; limit: number }[]> {
  const read: { page: DeliveryPage; limit: number }[] = [];
  for (let pageState: string | undefined; ;) {
    const limit = limits[read.length % limits.length] ?? 1;
    const caller = { fleetId: fleet.fleetId, subscriptionIds: null };
    const request = { caller, path: PATH, filters, limit, pageState };
    const [page] = await Promise.all([pages.read(request), fleet.write(writes[read.length] ?? [])]);
    read.push({ page, limit });
    if (page.nextPageState === null) return read;
    pageState = page.nextPageState;
  }
}

function statusOf({ outcome }: State): string {
  return outcome === 'retrying' ? 'pending' : outcome;
}

function matches(filters: DeliveryFilters, { plan }: Known, state: State): boolean {
  return (
    (filters.startAt === undefined || plan.firstAttemptAt >= filters.startAt) &&
    (filters.endAt === undefined || plan.firstAttemptAt < filters.endAt) &&
    (filters.eventTypes === undefined || filters.eventTypes.includes(plan.type)) &&
    (filters.deviceId === undefined || filters.deviceId === plan.device) &&
    (filters.subscriptionId === undefined || filters.subscriptionId === plan.subscription) &&
    (filters.statusCode === undefined || filters.statusCode === state.statusCode) &&
    (filters.status === undefined || filters.status === statusOf(state))
  );
}

describe('a walk through the history while it is written (R-34)', () => {
  it('shows each record that matched throughout exactly once, in order, and none that does not match', async () => {
    let pagesRead = 0;
    let leftOut = 0;
    await fc.assert(
      fc.asyncProperty(anyWalk, async (plan) => {
        const fleet = newFleet();
        await fleet.write(plan.there.map((one) => ({ type: 'begin', plan: one })));
        // Some are further than their first attempt when the walk begins.
        await fleet.write(plan.there.slice(0, 8).map((_, which) => ({ type: 'continue', which })));
        fleet.beginWalk();
        const read = await walk(fleet, plan);
        pagesRead += read.length;

        const shown = read.flatMap(({ page }) => page.records);
        const keys = shown.map(({ eventId, series }) => `${eventId}/${String(series)}`);
        const places = shown.map(({ firstAttemptAt, eventId, series }) => [firstAttemptAt, eventId, series].join(' '));
        expect(new Set(keys).size).toBe(keys.length);
        expect(places).toEqual([...places].sort());
        for (const { page, limit } of read.slice(0, -1)) expect(page.records).toHaveLength(limit);

        for (const [key, known] of fleet.known) {
          const fits = known.states.map((state) => matches(plan.filters, known, state));
          if (known.isThere && fits.every(Boolean)) expect(keys).toContain(key);
          if (!fits.some(Boolean)) expect(keys).not.toContain(key);
          if (known.isThere && fits.some(Boolean) && !keys.includes(key)) leftOut += 1;
        }
        // Each as it was at some moment of the walk, and so that it matches.
        for (const record of shown) {
          const known = fleet.known.get(`${record.eventId}/${String(record.series)}`);
          const state = known?.states.find(({ attempt }) => attempt === record.attempts.length);
          expect(state).toBeDefined();
          if (known === undefined || state === undefined) continue;
          expect([record.statusCode, record.status]).toEqual([state.statusCode, statusOf(state)]);
          expect(matches(plan.filters, known, state)).toBe(true);
        }
      }),
      { numRuns: RUNS },
    );
    // The law has been tried where it is hard: on walks of many pages, and with deliveries that changed under them.
    expect(pagesRead).toBeGreaterThan(3 * RUNS);
    expect(leftOut).toBeGreaterThan(0);
  });
});

describe('a walk of which the retention has taken a part (R-31)', () => {
  it.each(['asc', 'desc'] as const)('keeps to the deliveries of the last 15 days on every page: %s', async (order) => {
    const fleet = newFleet();
    const oldest = NOW - RETENTION_MS;
    const plans = [oldest - 60_000, oldest - 1, oldest, oldest + 1, NOW - 60_000].map((firstAttemptAt, event) => ({
      event,
      series: 0,
      device: 'd',
      type: 'position',
      subscription: uuidOf('s'),
      firstAttemptAt,
      answers: [200],
    }));
    // When they were stored, all of them were within the retention.
    await fleet.write(
      plans.map((plan) => ({ type: 'begin', plan })),
      createDeliveryProjection({ dataSource, now: () => NOW - 120_000 }),
    );
    let clock = NOW;
    const aging = new DeliveryPagesService(
      createDeliveryHistory({ pages: source }),
      new DeliveryPageStates({ pageTokenKeys: [KEY] }, () => clock),
      () => clock,
    );
    const shown: number[] = [];
    for (let pageState: string | undefined; ;) {
      const caller = { fleetId: fleet.fleetId, subscriptionIds: null };
      const page = await aging.read({ caller, path: PATH, filters: { order }, limit: 1, pageState });
      shown.push(...page.records.map(({ firstAttemptAt }) => firstAttemptAt - oldest));
      if (page.nextPageState === null) break;
      pageState = page.nextPageState;
      clock += 30_000;
    }
    const expected = [0, 1, RETENTION_MS - 60_000];
    expect(shown).toEqual(order === 'asc' ? expected : expected.toReversed());
  });
});
