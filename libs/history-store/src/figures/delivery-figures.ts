/** SQL by hand: the rows of a group are joined into one text by the server, which TypeORM cannot express. */
import { type PageSource, type PreparedQuery, storableText } from '@waypost/database';
import { instant } from '../pages/page-sql.js';
import { bucketStart, FIGURE_STEPS, type FigureStep, ROW_STEPS } from './figure-cells.js';
import type { SummedFigures } from './figures.js';
import { PackedSum } from './packed-figures.js';
import { type PackedMinutes, visitMinutes } from './packed-minutes.js';

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
  /** They would take too long to add: MAX_BYTES. */
  | { readonly type: 'too_many' };

/** The figures of a fleet's deliveries. */
export abstract class DeliveryFigures {
  /** Buckets with deliveries, in the order of time and then of the group. */
  abstract read(query: FiguresQuery): Promise<FiguresResult>;
}

const MINUTE_MS = 60_000;
/** What one query may add of stored figures, ids included: a few tenths of a second. */
const MAX_BYTES = 20_000_000;
/** The least that a row counts as. */
const ROW_BYTES = 100;

export function createDeliveryFigures({ pages }: { readonly pages: PageSource }): DeliveryFigures {
  return {
    async read(query) {
      const buckets = await pages.read<JoinedRows>(query.fleetId, figuresSql(query));
      if (bytesOf(buckets) > MAX_BYTES) return { type: 'too_many' };
      return { type: 'figures', rows: addUp(placesOf(buckets, query)) };
    },
  };
}

/** Of all sources together. */
function bytesOf(joined: readonly JoinedRows[]): number {
  const bySource = new Map<number, number>();
  for (const { source, bytes } of joined) bySource.set(source, Math.max(bytes, bySource.get(source) ?? 0));
  return [...bySource.values()].reduce((sum, bytes) => sum + bytes, 0);
}

interface Place {
  readonly text: PackedMinutes;
  readonly at: number;
}

/** By the number of a minute since 1970, and by the group in hexadecimal. */
type Places = ReadonlyMap<number, ReadonlyMap<string, readonly Place[]>>;

function* addUp(buckets: Places): Generator<FigureRow> {
  const sum = new PackedSum();
  for (const [minute, groups] of [...buckets].sort(([one], [other]) => one - other)) {
    for (const [hex, places] of [...groups].sort(([one], [other]) => (one < other ? -1 : 1))) {
      for (const { text, at } of places) sum.add(text, at);
      const group = Buffer.from(hex, 'hex').toString();
      yield { startAt: minute * MINUTE_MS, group, figures: sum.take() };
    }
  }
}

/** Where the figures of each bucket and group begin, of those buckets that begin in the window. */
function placesOf(joined: readonly JoinedRows[], { startAt, endAt, step }: FiguresQuery): Places {
  const buckets = new Map<number, Map<string, Place[]>>();
  const stepMinutes = FIGURE_STEPS[step];
  for (const { minutes: rowMinute, cells } of joined) {
    for (const row of cells.split(ROW_END)) {
      const [hex = '', text = ''] = row.split(GROUP_END);
      visitMinutes(text, (minute, at) => {
        const bucket = Math.floor((rowMinute + minute) / stepMinutes) * stepMinutes;
        if (bucket * MINUTE_MS < startAt || bucket * MINUTE_MS >= endAt) return;
        let groups = buckets.get(bucket);
        if (groups === undefined) buckets.set(bucket, (groups = new Map<string, Place[]>()));
        const places = groups.get(hex);
        if (places === undefined) groups.set(hex, [{ text, at }]);
        else places.push({ text, at });
      });
    }
  }
  return buckets;
}

interface JoinedRows {
  readonly source: number;
  /** Of the start of the rows' bucket, since 1970: a number costs less to read than a time. */
  readonly minutes: number;
  /** With those of the buckets before it from the same source. */
  readonly bytes: number;
  /**
   * Group and figures of each row: a row of its own costs more to read than its numbers. The group in hexadecimal, since the
   * log may hold any text as an id or an event type.
   */
  readonly cells: string;
}

/** Neither in packed minutes nor in hexadecimal. */
const GROUP_END = ':';
const ROW_END = ';';

const GROUPS: Readonly<Record<FigureGroup, string>> = {
  none: "''",
  subscription: "encode(convert_to(subscription_id, 'UTF8'), 'hex')",
  eventType: "encode(convert_to(event_type, 'UTF8'), 'hex')",
};

/** Rows that have figures of a step. */
interface Source {
  readonly rowStep: number;
  /** Of the rows' buckets. */
  readonly bucket: FigureStep;
  readonly columns: readonly ('figures' | 'minutes')[];
}

const DAY = { rowStep: ROW_STEPS.day, bucket: 'day' } as const;
const HOUR = { rowStep: ROW_STEPS.hour, bucket: 'hour' } as const;

/** Earlier versions wrote a row for each bucket of each step. */
function earlier(step: FigureStep): Source {
  return { rowStep: FIGURE_STEPS[step], bucket: step, columns: ['figures'] };
}

/** An hour has its own figures and its minutes, a day its own and the minutes that are not in their hours yet. */
const SOURCES: Readonly<Record<FigureStep, readonly Source[]>> = {
  day: [{ ...DAY, columns: ['figures', 'minutes'] }, earlier('day')],
  hour: [{ ...DAY, columns: ['minutes'] }, { ...HOUR, columns: ['figures'] }, earlier('hour')],
  minute: [{ ...DAY, columns: ['minutes'] }, { ...HOUR, columns: ['minutes'] }, earlier('minute')],
};

/** One statement, since minutes move from one row to another. */
export function figuresSql(query: FiguresQuery): PreparedQuery {
  const { fleetId, step, startAt, endAt, groupBy, subscriptionId, subscriptionIds, eventTypes = [] } = query;
  const parameters: unknown[] = [storableText(fleetId), instant(endAt)];
  const where = ['fleet_id = $1', 'bucket_at < $2'];
  if (subscriptionId !== undefined) where.push(`subscription_id = $${String(parameters.push(subscriptionId))}`);
  if (subscriptionIds !== undefined) {
    where.push(`subscription_id = ANY($${String(parameters.push(subscriptionIds))}::text[])`);
  }
  if (eventTypes.length > 0) where.push(`event_type = ANY($${String(parameters.push(eventTypes))}::text[])`);
  const parts = SOURCES[step].map((source, index) => {
    const start = `$${String(parameters.push(instant(bucketStart(startAt, source.bucket))))}`;
    return joinedSql(groupBy, index, source, [...where, `bucket_at >= ${start}`]);
  });
  return {
    name: `figures ${step} ${groupBy} ${[subscriptionId, subscriptionIds].map((given) => String(given !== undefined)).join(' ')} ${String(eventTypes.length > 0)}`,
    text: parts.join(' UNION ALL '),
    parameters,
  };
}

/**
 * In the order of the primary key, so that rows are joined while they are read: a table of buckets would not fit into
 * memory. What is beyond the limit is neither joined nor fetched from where long texts are.
 */
function joinedSql(
  groupBy: FigureGroup,
  index: number,
  { rowStep, columns }: Source,
  where: readonly string[],
): string {
  const lengths = columns.map((column) => `octet_length(${column})`);
  return `
    (SELECT ${String(index)} AS source, (date_part('epoch', bucket_at) / 60)::integer AS minutes, max(bytes) AS bytes,
            coalesce(string_agg(${GROUPS[groupBy]} || '${GROUP_END}' || ${columns.join(' || ')}, '${ROW_END}')
                     FILTER (WHERE bytes <= ${String(MAX_BYTES)}), '') AS cells
       FROM (SELECT bucket_at, subscription_id, event_type, ${columns.join(', ')},
                    sum(${[...lengths, String(ROW_BYTES)].join(' + ')})
                      OVER (ORDER BY bucket_at ROWS UNBOUNDED PRECEDING)::float8 AS bytes
               FROM (SELECT bucket_at, subscription_id, event_type, ${columns.join(', ')}
                       FROM fleet_delivery_figures WHERE ${where.join(' AND ')} AND step = ${String(rowStep)}
                      ORDER BY bucket_at LIMIT ${String(MAX_BYTES / ROW_BYTES + 1)}) AS stored) AS sized
      GROUP BY bucket_at)`;
}
