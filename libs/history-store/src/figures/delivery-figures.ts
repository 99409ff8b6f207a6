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
  /** They would take too long to add, or are too many: FigureLimits. */
  | { readonly type: 'too_many' };

/** The figures of deliveries of a fleet, or of all of them. */
export abstract class DeliveryFigures {
  /**
   * Buckets with deliveries, in the order of time and then of the group.
   * @param show makes of each row what is kept of it: its histograms need not all be in memory at once
   */
  abstract read<Shown>(query: FiguresQuery, show: (row: FigureRow) => Shown): Promise<FiguresResult<Shown>>;
  /** Each group with deliveries over all buckets of the window, in the order of the groups. */
  abstract sum(query: FiguresQuery): Promise<FiguresResult<FigureSum>>;
}

export interface FigureLimits {
  /** What is read at once of each source, ids included: a tenth of a second of adding, in which nothing else is answered. A day has no more. */
  readonly sliceBytes: number;
  /** What one query may add. */
  readonly bytes: number;
  /** What one query may result in. */
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
        // Of each slice its sums are kept, not the texts.
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
 * As many days at once as the limit allows, so that a long window is bounded by time and not by memory. Minutes move within
 * the rows of a day, and a delivery counts in one day: each day is exact, and a small window is one statement. Null: a day is
 * too much by itself, or all of them are.
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

/** Of all sources together. */
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

/** By the number of a minute since 1970. */
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

/** Of all buckets together, packed. Places of single figures would take half of the time. */
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
  /** Of the start of its bucket, since 1970. */
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

/** Those of the buckets that begin in the window. */
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

/** In the order of the groups. */
function addUp(groups: Groups): FigureSum[] {
  const sum = new PackedSum();
  return [...groups]
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([hex, places]) => ({ group: Buffer.from(hex, 'hex').toString(), figures: sumOf(places, sum) }));
}

/** @param sum nothing yet, and nothing again afterwards */
function sumOf(places: readonly Place[], sum: PackedSum): SummedFigures {
  for (const { text, at } of places) sum.add(text, at);
  return sum.take();
}
