import { DELIVERY_STATUSES, type DeliveryHistory, type DeliveryPosition, type DeliveryQuery } from '@waypost/domain';
import type { Random } from '../../../tools/simulator/random.js';
import { type BenchContext, DAY_MS } from '../bench-context.js';
import { choose, createFleets, createShares, deviceName, deviceOf, type Fleet, uuidOf } from '../load/fleets.js';

/** What is there to be asked for. */
export interface Holdings {
  readonly fleets: readonly Fleet[];
  /** Of the first attempts, epoch milliseconds. */
  readonly fromMs: number;
  readonly toMs: number;
  /** Events that are there, with their fleets. */
  readonly events: readonly { readonly fleetId: string; readonly eventId: string }[];
  /** Where page 1,000 of the largest fleet begins; of a smaller history, the last that is full. */
  readonly farPosition: DeliveryPosition;
}

/** A kind of page; each call asks for another one of it. */
export interface PageShape {
  readonly name: string;
  readonly query: (random: Random) => DeliveryQuery;
}

export const PAGE_SIZE = 100;

/** As public-api asks: one more than it shows, to find out whether there is a next page. */
const LIMIT = PAGE_SIZE + 1;

const FILTERS = [
  'eventType',
  'several eventTypes',
  'deviceId',
  'subscriptionId',
  'eventId',
  'statusCode',
  'status',
] as const;
export type Filter = (typeof FILTERS)[number];

export const FIRST_PAGE = 'no filter';
export const FAR_PAGE = 'page 1,000';
export const EMPTY_FLEET = 'a fleet with nothing';
export const THREE_FILTERS = 'eventType + subscriptionId + status';

/** No filter, page 1,000, nothing, each filter, each pair, and the three together that are asked most. */
export function pageShapes(holdings: Holdings): readonly PageShape[] {
  const { fleets, farPosition, fromMs, toMs } = holdings;
  const all = { startAt: fromMs, endAt: toMs, limit: LIMIT };
  const [largest] = fleets;
  const filtered = (...filters: Filter[]): PageShape => ({
    name: filters.join(' + '),
    query: (random) => askedPage(holdings, filters, random),
  });
  return [
    filtered(),
    { name: FAR_PAGE, query: () => ({ ...all, fleetId: largest?.fleetId ?? '', after: farPosition }) },
    { name: EMPTY_FLEET, query: () => ({ ...all, fleetId: 'fleet-without-deliveries' }) },
    ...FILTERS.map((filter) => filtered(filter)),
    ...pairs().map((pair) => filtered(...pair)),
    filtered('eventType', 'subscriptionId', 'status'),
  ].map((shape) => (shape.name === '' ? { ...shape, name: FIRST_PAGE } : shape));
}

function pairs(): [Filter, Filter][] {
  return FILTERS.flatMap((first, index) =>
    FILTERS.slice(index + 1)
      .filter((second) => !(first === 'eventType' && second === 'several eventTypes'))
      .map((second): [Filter, Filter] => [first, second]),
  );
}

/** Half of the questions go to the largest fleet, which is the hardest; half of them begin somewhere in the middle. */
function askedPage(holdings: Holdings, filters: readonly Filter[], random: Random): DeliveryQuery {
  const event = choose(holdings.events, random);
  const byShare = createShares(holdings.fleets);
  const ofEvent = holdings.fleets.find(({ fleetId }) => fleetId === event.fleetId);
  const asked = random() < 0.5 ? choose(holdings.fleets.slice(0, 1), random) : byShare(random());
  const fleet = filters.includes('eventId') ? (ofEvent ?? asked) : asked;
  const values = filters.map((filter) => VALUES[filter](fleet, event.eventId, random));
  return Object.assign(
    { fleetId: fleet.fleetId, limit: LIMIT, ...askedWindow(holdings, random) },
    ...values,
  ) as DeliveryQuery;
}

/** All of it, from some moment on, or a day. */
function askedWindow({ fromMs, toMs }: Holdings, random: Random): Pick<DeliveryQuery, 'startAt' | 'endAt' | 'after'> {
  const kind = random();
  const somewhere = fromMs + random() * (toMs - fromMs);
  const startAt = Math.floor(kind < 1 / 3 ? fromMs : Math.min(somewhere, toMs - DAY_MS));
  const endAt = kind < 2 / 3 ? toMs : startAt + DAY_MS;
  if (random() < 0.5) return { startAt, endAt };
  const firstAttemptAt = Math.floor(startAt + (random() * (endAt - startAt)) / 2);
  return { startAt, endAt, after: { firstAttemptAt, eventId: uuidOf(random), series: 0 } };
}

type ValueOf = (fleet: Fleet, eventId: string, random: Random) => Partial<DeliveryQuery>;

/** Common values, rare ones, and values that never occur. */
const VALUES: Readonly<Record<Filter, ValueOf>> = {
  eventType: (_fleet, _eventId, random) => ({ eventTypes: [choose(TYPES, random)] }),
  'several eventTypes': (_fleet, _eventId, random) => {
    const some = [...TYPES].sort(() => random() - 0.5);
    return { eventTypes: some.slice(0, 2 + Math.floor(random() * 3)) };
  },
  deviceId: (fleet, _eventId, random) => {
    const kind = random();
    if (kind < 0.4) return { deviceId: deviceName(fleet, 0) };
    return { deviceId: kind < 0.9 ? deviceOf(fleet, random) : deviceName(fleet, 99_999) };
  },
  subscriptionId: (fleet, eventId, random) => ({
    subscriptionId: random() < 0.95 ? choose(fleet.subscriptions, random).subscriptionId : eventId,
  }),
  eventId: (_fleet, eventId, random) => ({ eventId: random() < 0.9 ? eventId : uuidOf(random) }),
  statusCode: (_fleet, _eventId, random) => ({ statusCode: choose(CODES, random) }),
  status: (_fleet, _eventId, random) => ({ status: choose(DELIVERY_STATUSES, random) }),
};

const TYPES = ['position', 'position_sleep', 'ignition_on', 'ignition_off', 'geofence_in', 'route_started'] as const;
const CODES = [200, 201, 202, 204, 503, 500, 502, 429, 410, 404, 400, 418] as const;

const SAMPLED_EVENTS = 2_000;
const PAGES_BEFORE_THE_FAR_ONE = 999;
/** As much as public-api gives with one page. */
const STEP = 2_000;

/** Finds out what can be asked for. */
export async function findHoldings(
  { dataSource, calendar }: BenchContext,
  history: DeliveryHistory,
): Promise<Holdings> {
  const { fromMs, toMs } = calendar;
  const fleets = createFleets();
  const rows: { fleet_id: string; event_id: string }[] = await dataSource.query(
    'SELECT fleet_id, event_id FROM deliveries TABLESAMPLE SYSTEM (0.2) WHERE first_attempt_at < $1 LIMIT $2',
    [new Date(toMs).toISOString(), SAMPLED_EVENTS],
  );
  const window = { fleetId: fleets[0]?.fleetId ?? '', startAt: fromMs, endAt: toMs };
  return {
    fleets,
    fromMs,
    toMs,
    events: rows.map((row) => ({ fleetId: row.fleet_id, eventId: row.event_id })),
    farPosition: await positionBehind(history, window, PAGES_BEFORE_THE_FAR_ONE * PAGE_SIZE),
  };
}

interface Window {
  readonly fleetId: string;
  readonly startAt: number;
  readonly endAt: number;
}

/** By walking there, as a reader does; at the end of a smaller history it stays a page before the end. */
async function positionBehind(history: DeliveryHistory, window: Window, count: number): Promise<DeliveryPosition> {
  let position: DeliveryPosition | undefined;
  for (let left = count; left > 0;) {
    const limit = Math.min(left, STEP);
    const { records: page, hasMore } = await history.findDeliveries({
      ...window,
      limit,
      ...(position === undefined ? {} : { after: position }),
    });
    const last = hasMore ? page.at(-1) : page.at(-1 - PAGE_SIZE);
    if (last !== undefined) {
      const { firstAttemptAt, eventId, series } = last;
      position = { firstAttemptAt, eventId, series };
    }
    if (!hasMore) break;
    left -= page.length;
  }
  if (position === undefined) throw new Error('The history is too small for a walk.');
  return position;
}
