import type { DeliveryHistory, DeliveryQuery } from '@waypost/domain';
import { counted } from '../../shared/report/number-text.js';
import { type Percentiles, percentilesOf } from '../../shared/statistics.js';
import { type BenchContext, DAY_MS } from '../bench-context.js';
import { deviceName, type Fleet } from '../load/fleets.js';
import { PAGE_SIZE } from './page-shapes.js';

/** The same page of the same rows, read in both ways. */
export interface Comparison {
  readonly name: string;
  readonly oursMs: Percentiles;
  readonly naiveMs: Percentiles;
}

export interface NaiveRun {
  readonly rows: number;
  readonly bytesPerDelivery: number;
  readonly pages: readonly Comparison[];
  /** DELETE of one day. */
  readonly deleteDayMs: number;
  readonly deletedRows: number;
}

const TABLE = 'naive_deliveries';
const INDEXES = ['(fleet_id, first_attempt_at)', '(first_attempt_at)'];
const ORDER = 'ORDER BY first_attempt_at, event_id, series';
const PAGES_OF_EACH = 20;
/** Of all pages of one kind together. */
const LONGEST_MS = 20_000;

/**
 * What one writes first: one table for all days, an index for the fleet and one for the time, pages by OFFSET. Filled from
 * the last of the fifteen days; only these are asked for, of both.
 */
export async function prepareNaive({ dataSource, calendar, flags, reporter }: BenchContext): Promise<Window> {
  const startAt = startOfLast(calendar, flags.naive, flags.deliveries);
  const window = { startAt, endAt: calendar.toMs };
  await reporter.during('Filling the naive table', async () => {
    await dataSource.query(`DROP TABLE IF EXISTS ${TABLE}`);
    await dataSource.query(
      `CREATE TABLE ${TABLE} (LIKE deliveries INCLUDING DEFAULTS, PRIMARY KEY (event_id, series))`,
    );
    for (const columns of INDEXES) await dataSource.query(`CREATE INDEX ON ${TABLE} ${columns}`);
    await dataSource.query(
      `INSERT INTO ${TABLE} SELECT * FROM deliveries WHERE first_attempt_at >= $1 AND first_attempt_at < $2`,
      instants(window),
    );
    await dataSource.query(`ANALYZE ${TABLE}`);
  });
  return window;
}

export interface Window {
  readonly startAt: number;
  readonly endAt: number;
}

function instants({ startAt, endAt }: Window): string[] {
  return [startAt, endAt].map((at) => new Date(at).toISOString());
}

type Queries = BenchContext['dataSource'];

/** So late that about as many rows come behind it: deliveries are even over the days. */
function startOfLast({ fromMs, toMs }: BenchContext['calendar'], rows: number, all: number): number {
  return Math.max(fromMs, Math.floor(toMs - (rows / all) * (toMs - fromMs)));
}

export async function measureNaive(
  context: BenchContext,
  history: DeliveryHistory,
  [largest]: readonly Fleet[],
  window: Window,
): Promise<NaiveRun> {
  const { dataSource, reporter } = context;
  if (largest === undefined) throw new Error('There are no fleets.');
  const [size]: { rows: string; bytes: string }[] = await dataSource.query(
    `SELECT (SELECT count(*) FROM ${TABLE}) AS rows, pg_total_relation_size('${TABLE}') AS bytes`,
  );
  const rows = Number(size?.rows ?? 0);
  const pages = await reporter.during(`Reading pages of ${counted(rows)} rows in both ways`, async () => {
    const compared: Comparison[] = [];
    for (const kind of kindsOf(largest, window)) compared.push(await compare(context, history, kind));
    return compared;
  });
  const { now } = context;
  const startedAt = now();
  const deleted: { count: string }[] = await reporter.during('Deleting a day of the naive table', () =>
    dataSource.query(
      `WITH gone AS (DELETE FROM ${TABLE} WHERE first_attempt_at < $1 RETURNING 1) SELECT count(*) FROM gone`,
      [new Date(Math.min(window.startAt + DAY_MS, window.endAt)).toISOString()],
    ),
  );
  const deleteDayMs = now() - startedAt;
  const deletedRows = Number(deleted[0]?.count ?? 0);
  await dataSource.query(`DROP TABLE ${TABLE}`);
  return { rows, bytesPerDelivery: Number(size?.bytes ?? 0) / rows, pages, deleteDayMs, deletedRows };
}

interface Kind {
  readonly name: string;
  readonly query: DeliveryQuery;
  /** Pages before the one that is read. */
  readonly page: number;
}

const FAR = 999;

function kindsOf(fleet: Fleet, window: Window): Kind[] {
  const query = { ...window, fleetId: fleet.fleetId, limit: PAGE_SIZE };
  const subscriptionId = fleet.subscriptions[3]?.subscriptionId ?? '';
  return [
    { name: 'page 1, no filter', query, page: 0 },
    { name: 'page 1,000, no filter', query, page: FAR },
    { name: 'page 1, status failed', query: { ...query, status: 'failed' }, page: 0 },
    { name: 'page 1, a device', query: { ...query, deviceId: deviceName(fleet, 7) }, page: 0 },
    { name: 'page 1, a subscription', query: { ...query, subscriptionId }, page: 0 },
    {
      name: 'page 1, status code and event type',
      query: { ...query, statusCode: 503, eventTypes: ['geofence_in'] },
      page: 0,
    },
    { name: 'page 1, nothing to find', query: { ...query, statusCode: 418 }, page: 0 },
  ];
}

async function compare(context: BenchContext, history: DeliveryHistory, kind: Kind): Promise<Comparison> {
  const { dataSource, now, signal } = context;
  const position = kind.page === 0 ? undefined : await positionOf(dataSource, kind);
  const ours = { ...kind.query, ...(position === undefined ? {} : { after: position }) };
  const naive = naiveSql(kind);
  await history.findDeliveries(ours);
  return {
    name: kind.name,
    oursMs: await timed(() => history.findDeliveries(ours), now, signal),
    naiveMs: await timed(() => dataSource.query(naive.text, naive.parameters), now, signal),
  };
}

async function timed(read: () => Promise<unknown>, now: () => number, signal: AbortSignal): Promise<Percentiles> {
  const tookMs: number[] = [];
  const endAt = now() + LONGEST_MS;
  while (tookMs.length < PAGES_OF_EACH && (tookMs.length < 3 || now() < endAt)) {
    signal.throwIfAborted();
    const startedAt = now();
    await read();
    tookMs.push(now() - startedAt);
  }
  return percentilesOf(tookMs);
}

function naiveSql({ query, page }: Kind): { text: string; parameters: unknown[] } {
  const parameters: unknown[] = [];
  const conditions = Object.entries({
    'fleet_id =': query.fleetId,
    'first_attempt_at >=': new Date(query.startAt).toISOString(),
    'first_attempt_at <': new Date(query.endAt).toISOString(),
    'status =': query.status,
    'device_id =': query.deviceId,
    'subscription_id =': query.subscriptionId,
    'status_code =': query.statusCode,
    'event_type =': query.eventTypes?.[0],
  }).flatMap(([condition, value]) => (value === undefined ? [] : [`${condition} $${String(parameters.push(value))}`]));
  const text = `SELECT * FROM ${TABLE} WHERE ${conditions.join(' AND ')} ${ORDER} LIMIT ${String(PAGE_SIZE)} OFFSET ${String(page * PAGE_SIZE)}`;
  return { text, parameters };
}

/** Where the same page begins for a walk: at the row before it. */
async function positionOf(dataSource: Queries, kind: Kind) {
  const { text, parameters } = naiveSql(kind);
  const before = text.replace(/SELECT \*/, 'SELECT event_id, series, first_attempt_at').replace(/LIMIT .*$/, '');
  const rows: { event_id: string; series: number; first_attempt_at: Date }[] = await dataSource.query(
    `${before} LIMIT 1 OFFSET ${String(kind.page * PAGE_SIZE - 1)}`,
    parameters,
  );
  const [row] = rows;
  if (row === undefined) return undefined;
  return { firstAttemptAt: row.first_attempt_at.getTime(), eventId: row.event_id, series: row.series };
}
