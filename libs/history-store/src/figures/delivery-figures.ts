import type { PageSource } from '@waypost/database';
import { DAY_MS } from '@waypost/domain';
import { FIGURE_STEPS } from './figure-cells.js';
import type { SummedFigures } from './figures.js';
import { type FiguresQuery, figuresSql, GROUP_END, type JoinedRows, ROW_END } from './figures-sql.js';
import { PackedSum, packFigures } from './packed-figures.js';
import { type PackedMinutes, visitMinutes } from './packed-minutes.js';

export interface FigureSum {
  /** A subscription id, an event type or a fleet id; empty when not grouped. */
  readonly group: string;
  readonly figures: SummedFigures;
}

export interface FigureRow extends FigureSum {
  readonly startAt: number;
}

export type FiguresResult<Row> =
  | { readonly type: 'figures'; readonly rows: readonly Row[] }
  /** Too many to add or return: FigureLimits. */
  | { readonly type: 'too_many' };

/** the figures of a fleet's deliveries, or of all fleets. */
export abstract class DeliveryFigures {
  /**
   * Buckets with deliveries, in the order of time and then of the group.
   * @param show reduces each row, so that not all histograms are in memory at once
   */
  abstract read<Shown>(query: FiguresQuery, show: (row: FigureRow) => Shown): Promise<FiguresResult<Shown>>;
  /** Each group with deliveries over all buckets of the window, in group order. */
  abstract sum(query: FiguresQuery): Promise<FiguresResult<FigureSum>>;
}

export interface FigureLimits {
  /** What is read at once from each source, ids included: adding it blocks the event loop for a tenth of a second. A day fits. */
  readonly sliceBytes: number;
  /** The limit of what one query adds. */
  readonly bytes: number;
  /** The limit of what one query returns. */
  readonly rows: number;
}

/** So many rows are some 6 MB of JSON, and a fifth of a second that other requests wait for (R-34a). */
export const MAX_FIGURE_ROWS = 20_000;
const LIMITS: FigureLimits = { sliceBytes: 20_000_000, bytes: 200_000_000, rows: MAX_FIGURE_ROWS };

interface FiguresOptions {
  readonly pages: PageSource;
  readonly limits?: FigureLimits;
}

export function createDeliveryFigures({ pages, limits = LIMITS }: FiguresOptions): DeliveryFigures {
  return {
    async read(query, show) {
      const rows: ReturnType<typeof show>[] = [];
      for await (const slice of slicesOf(pages, query, limits)) {
        if (slice === null) return { type: 'too_many' };
        for (const [minute, groups] of [...placesOf(slice)].sort(([one], [other]) => one - other)) {
          if (rows.length + groups.size > limits.rows) return { type: 'too_many' };
          const startAt = minute * MINUTE_MS;
          for (const { group, figures } of addUp(groups)) rows.push(show({ startAt, group, figures }));
        }
      }
      return { type: 'figures', rows };
    },

    async sum(query) {
      const groups: Groups = new Map();
      for await (const slice of slicesOf(pages, query, limits)) {
        if (slice === null) return { type: 'too_many' };
        // Keeps the sums of each slice, not its texts.
        for (const [hex, text] of sumsOf(slice)) placesIn(groups, hex).push({ text, at: 0 });
        if (groups.size > limits.rows) return { type: 'too_many' };
      }
      return { type: 'figures', rows: addUp(groups) };
    },
  };
}

/** Days that are read at once. */
interface Slice {
  readonly query: FiguresQuery;
  readonly joined: readonly JoinedRows[];
}

/**
 * Reads as many days at once as the limit allows, so that a long window is bounded by time and not by memory. Minutes
 * move within the rows of a day, and a delivery counts in one day: each day is exact, and a small window is one
 * statement. null: one day, or all of them together, exceed the limit.
 */
async function* slicesOf(
  pages: PageSource,
  query: FiguresQuery,
  { sliceBytes, bytes }: FigureLimits,
): AsyncGenerator<Slice | null> {
  let { startAt } = query;
  let left = bytes;
  while (startAt < query.endAt) {
    const joined = await pages.read<JoinedRows>(query.fleetId, figuresSql({ ...query, startAt }, sliceBytes));
    const endAt = Math.min(query.endAt, ...joined.filter((rows) => rows.bytes > sliceBytes).map(dayOf));
    const whole = joined.filter((rows) => dayOf(rows) < endAt);
    left -= bytesOf(whole);
    if (endAt <= startAt || left < 0) {
      yield null;
      return;
    }
    yield { query: { ...query, startAt, endAt }, joined: whole };
    startAt = endAt;
  }
}

const MINUTE_MS = 60_000;

function dayOf({ minutes }: JoinedRows): number {
  return Math.floor((minutes * MINUTE_MS) / DAY_MS) * DAY_MS;
}

/** The total of all sources. */
function bytesOf(joined: readonly JoinedRows[]): number {
  const bySource = new Map<number, number>();
  for (const { source, bytes } of joined) bySource.set(source, Math.max(bytes, bySource.get(source) ?? 0));
  return [...bySource.values()].reduce((sum, bytes) => sum + bytes, 0);
}

/** Where packed figures begin. */
interface Place {
  readonly text: PackedMinutes;
  readonly at: number;
}

/** By the group in hexadecimal. */
type Groups = Map<string, Place[]>;

function placesIn(groups: Groups, hex: string): Place[] {
  const known = groups.get(hex);
  if (known !== undefined) return known;
  const places: Place[] = [];
  groups.set(hex, places);
  return places;
}

/** Places by the number of a minute since 1970. */
function placesOf(slice: Slice): Map<number, Groups> {
  const buckets = new Map<number, Groups>();
  for (const { rowMinute, hex, text } of rowsOf(slice)) {
    visitBuckets(slice.query, rowMinute, text, (bucket, at) => {
      let groups = buckets.get(bucket);
      if (groups === undefined) buckets.set(bucket, (groups = new Map()));
      placesIn(groups, hex).push({ text, at });
    });
  }
  return buckets;
}

/** Packed sums over all buckets. Places of single figures would take half of the time. */
function sumsOf(slice: Slice): [hex: string, figures: string][] {
  const groups = new Map<string, StoredRow[]>();
  for (const row of rowsOf(slice)) {
    const known = groups.get(row.hex);
    if (known === undefined) groups.set(row.hex, [row]);
    else known.push(row);
  }
  const sum = new PackedSum();
  return [...groups].flatMap(([hex, rows]) => {
    let added = 0;
    for (const { rowMinute, text } of rows) {
      visitBuckets(slice.query, rowMinute, text, (_, at) => {
        sum.add(text, at);
        added += 1;
      });
    }
    return added === 0 ? [] : [[hex, packFigures(sum.take())]];
  });
}

interface StoredRow {
  /** The start of the row's bucket, in minutes since 1970. */
  readonly rowMinute: number;
  readonly hex: string;
  readonly text: PackedMinutes;
}

function* rowsOf({ joined }: Slice): Generator<StoredRow> {
  for (const { minutes: rowMinute, cells } of joined) {
    for (const row of cells.split(ROW_END)) {
      const [hex = '', text = ''] = row.split(GROUP_END);
      yield { rowMinute, hex, text };
    }
  }
}

/** Visits the buckets that begin in the window. */
function visitBuckets(
  { startAt, endAt, step }: FiguresQuery,
  rowMinute: number,
  text: PackedMinutes,
  visit: (bucket: number, at: number) => void,
): void {
  const stepMinutes = FIGURE_STEPS[step];
  visitMinutes(text, (minute, at) => {
    const bucket = Math.floor((rowMinute + minute) / stepMinutes) * stepMinutes;
    if (bucket * MINUTE_MS >= startAt && bucket * MINUTE_MS < endAt) visit(bucket, at);
  });
}

/** Adds up groups, in group order. */
function addUp(groups: Groups): FigureSum[] {
  const sum = new PackedSum();
  return [...groups]
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([hex, places]) => ({ group: Buffer.from(hex, 'hex').toString(), figures: sumOf(places, sum) }));
}

/** @param sum empty before and after the call */
function sumOf(places: readonly Place[], sum: PackedSum): SummedFigures {
  for (const { text, at } of places) sum.add(text, at);
  return sum.take();
}
