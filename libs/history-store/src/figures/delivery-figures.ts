/** SQL by hand: the rows of a group are joined into one text by the server, which TypeORM cannot express. */
import { type PageSource, type PreparedQuery, storableText } from '@waypost/database';
import { instant } from '../pages/page-sql.js';
import { FIGURE_STEPS, type FigureStep } from './figure-cells.js';
import type { SummedFigures } from './figures.js';
import { PackedSum } from './packed-figures.js';

export type FigureGroup = 'none' | 'subscription' | 'eventType';

export interface FiguresQuery {
  readonly fleetId: string;
  readonly startAt: number;
  readonly endAt: number;
  readonly step: FigureStep;
  readonly groupBy: FigureGroup;
  readonly subscriptionId?: string | undefined;
  readonly subscriptionIds?: readonly string[] | undefined;
  /** Absent or empty: all. */
  readonly eventTypes?: readonly string[] | undefined;
}

export interface FigureRow {
  readonly startAt: number;
  /** A subscription id or an event type; empty when not grouped. */
  readonly group: string;
  readonly figures: SummedFigures;
}

export type FiguresResult =
  /** To be read once: each row is added up when it is asked for, so that thousands of them are not in memory at once. */
  | { readonly type: 'figures'; readonly rows: Iterable<FigureRow> }
  /** They would take too long to add: MAX_CELLS. */
  | { readonly type: 'too_many' };

/** The figures of a fleet's deliveries. */
export abstract class DeliveryFigures {
  /** Buckets with deliveries, in the order of time and then of the group. */
  abstract read(query: FiguresQuery): Promise<FiguresResult>;
}

const MINUTE_MS = 60_000;
/** Stored rows that one query may add: some 10 MB of text, and a tenth of a second. */
const MAX_CELLS = 100_000;

export function createDeliveryFigures({ pages }: { readonly pages: PageSource }): DeliveryFigures {
  return {
    async read(query) {
      const rows = await pages.read<JoinedCells>(query.fleetId, figuresSql(query));
      if (rows.reduce((sum, { count }) => sum + count, 0) > MAX_CELLS) return { type: 'too_many' };
      return { type: 'figures', rows: addUp(rows) };
    },
  };
}

function* addUp(buckets: readonly JoinedCells[]): Generator<FigureRow> {
  const sum = new PackedSum();
  for (const { minutes, cells: text } of buckets) {
    for (const [hex, places] of placesOf(text)) {
      for (const place of places) sum.add(text, place);
      const group = Buffer.from(hex, 'hex').toString();
      yield { startAt: minutes * MINUTE_MS, group, figures: sum.take() };
    }
  }
}

/** Where the figures of each group, in hexadecimal, begin; in the order of the groups. */
function placesOf(cells: string): readonly (readonly [group: string, places: readonly number[]])[] {
  const places = new Map<string, number[]>();
  for (let at = 0; at < cells.length;) {
    const place = cells.indexOf('[', at);
    const group = cells.slice(at, place);
    const known = places.get(group);
    if (known === undefined) places.set(group, [place]);
    else known.push(place);
    at = cells.indexOf(FIGURES_END, place) + FIGURES_END.length + ','.length;
  }
  return [...places].sort(([one], [other]) => (one < other ? -1 : 1));
}

/** The end of the last list and of all of them, which is nowhere else in packed figures. */
const FIGURES_END = ']]';

interface JoinedCells {
  /** Since 1970: a number costs less to read than a time. */
  readonly minutes: number;
  readonly count: number;
  /**
   * Group and figures of each, with commas between them: a row of its own costs more to read than its numbers. The group in
   * hexadecimal, since the log may hold any text as an id or an event type, brackets too.
   */
  readonly cells: string;
}

const JOINED: Readonly<Record<FigureGroup, string>> = {
  none: 'figures',
  subscription: "encode(convert_to(subscription_id, 'UTF8'), 'hex') || figures",
  eventType: "encode(convert_to(event_type, 'UTF8'), 'hex') || figures",
};

export function figuresSql(query: FiguresQuery): PreparedQuery {
  const { fleetId, step, startAt, endAt, groupBy, subscriptionId, subscriptionIds, eventTypes = [] } = query;
  const parameters: unknown[] = [storableText(fleetId), FIGURE_STEPS[step], instant(startAt), instant(endAt)];
  const where = ['fleet_id = $1', 'step = $2', 'bucket_at >= $3', 'bucket_at < $4'];
  if (subscriptionId !== undefined) where.push(`subscription_id = $${String(parameters.push(subscriptionId))}`);
  if (subscriptionIds !== undefined) {
    where.push(`subscription_id = ANY($${String(parameters.push(subscriptionIds))}::text[])`);
  }
  if (eventTypes.length > 0) where.push(`event_type = ANY($${String(parameters.push(eventTypes))}::text[])`);
  // In the order of the primary key, so that they are joined while they are read: a table of buckets would not fit into memory.
  return {
    name: `figures ${groupBy} ${[subscriptionId, subscriptionIds].map((given) => String(given !== undefined)).join(' ')} ${String(eventTypes.length > 0)}`,
    text: `
      SELECT (date_part('epoch', bucket_at) / 60)::integer AS minutes, count(*)::integer AS count,
             string_agg(${JOINED[groupBy]}, ',') AS cells
        FROM (SELECT * FROM fleet_delivery_figures WHERE ${where.join(' AND ')}
               ORDER BY bucket_at LIMIT ${String(MAX_CELLS + 1)}) AS stored
       GROUP BY bucket_at ORDER BY bucket_at`,
    parameters,
  };
}
