/** SQL by hand: the rows of a group are joined into one text by the server, which TypeORM cannot express. */
import { type PreparedQuery, storableText } from '@waypost/database';
import { instant } from '../sql/instant.js';
import { SqlParameters } from '../sql/sql-parameters.js';
import { bucketStart, FIGURE_STEPS, type FigureStep, ROW_STEPS } from './figure-cells.js';

/** `fleet`: rows of all fleets, with the fleet in place of the subscription. */
export type FigureGroup = 'none' | 'subscription' | 'eventType' | 'fleet';

export interface FiguresQuery {
  /** ALL_FLEETS: all of them together. */
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

/** What the server joins from the rows of a bucket. */
export interface JoinedRows {
  readonly source: number;
  /** The start of the rows' bucket, in minutes since 1970: a number is cheaper to read than a time. */
  readonly minutes: number;
  /** Includes the earlier buckets of the same source. Beyond the requested bytes, the bucket is incomplete. */
  readonly bytes: number;
  /**
   * Group and figures of each row: separate rows cost more to read than their numbers. The group is in hexadecimal,
   * since the log may have any text as an id or an event type.
   */
  readonly cells: string;
}

/** Occurs neither in packed minutes nor in hexadecimal. */
export const GROUP_END = ':';
export const ROW_END = ';';

/** The minimum size counted per row. */
const ROW_BYTES = 100;

const SUBSCRIPTION = "encode(convert_to(subscription_id, 'UTF8'), 'hex')";

const GROUPS: Readonly<Record<FigureGroup, string>> = {
  none: "''",
  subscription: SUBSCRIPTION,
  fleet: SUBSCRIPTION,
  eventType: "encode(convert_to(event_type, 'UTF8'), 'hex')",
};

/** Rows with figures of a step. */
interface Source {
  readonly rowStep: number;
  /** The bucket of a row. */
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

/**
 * A single statement, since minutes move between rows of their day.
 * @param bytes the limit for each source, in order of time
 */
export function figuresSql(query: FiguresQuery, bytes: number): PreparedQuery {
  const { fleetId, step, startAt, endAt, groupBy, subscriptionId, subscriptionIds, eventTypes = [] } = query;
  const types = eventTypes.length > 0 ? eventTypes : undefined;
  const parameters = new SqlParameters();
  const fleet = parameters.add(storableText(fleetId));
  const end = parameters.add(instant(endAt));
  const limits = { bytes: parameters.add(bytes), rows: parameters.add(Math.ceil(bytes / ROW_BYTES) + 1) };
  const where = [
    `fleet_id = ${fleet}`,
    `bucket_at < ${end}`,
    ...parameters.addIfGiven(subscriptionId, (id) => `subscription_id = ${id}`),
    ...parameters.addIfGiven(subscriptionIds, (ids) => `subscription_id = ANY(${ids})`, 'text[]'),
    ...parameters.addIfGiven(types, (wanted) => `event_type = ANY(${wanted})`, 'text[]'),
  ];
  const parts = SOURCES[step].map((source, index) => {
    const start = parameters.add(instant(bucketStart(startAt, source.bucket)));
    return joinedSql(groupBy, index, source, { where: [...where, `bucket_at >= ${start}`], limits });
  });
  return {
    name: `figures ${step} ${groupBy} ${[subscriptionId, subscriptionIds].map((given) => String(given !== undefined)).join(' ')} ${String(types !== undefined)}`,
    text: parts.join(' UNION ALL '),
    parameters: parameters.values,
  };
}

/** `$n`, for each source. */
interface Limits {
  readonly bytes: string;
  readonly rows: string;
}

/**
 * Follows the primary key, so that rows are joined while they are read: a table of buckets would not fit into memory.
 * Rows beyond the limit are neither joined nor detoasted.
 */
function joinedSql(
  groupBy: FigureGroup,
  index: number,
  { rowStep, columns }: Source,
  { where, limits }: { readonly where: readonly string[]; readonly limits: Limits },
): string {
  const lengths = columns.map((column) => `octet_length(${column})`);
  return `
    (SELECT ${String(index)} AS source, (date_part('epoch', bucket_at) / 60)::integer AS minutes, max(bytes) AS bytes,
            coalesce(string_agg(${GROUPS[groupBy]} || '${GROUP_END}' || ${columns.join(' || ')}, '${ROW_END}')
                     FILTER (WHERE bytes <= ${limits.bytes}), '') AS cells
       FROM (SELECT bucket_at, subscription_id, event_type, ${columns.join(', ')},
                    sum(${[...lengths, String(ROW_BYTES)].join(' + ')})
                      OVER (ORDER BY bucket_at ROWS UNBOUNDED PRECEDING)::float8 AS bytes
               FROM (SELECT bucket_at, subscription_id, event_type, ${columns.join(', ')}
                       FROM fleet_delivery_figures WHERE ${where.join(' AND ')} AND step = ${String(rowStep)}
                      ORDER BY bucket_at LIMIT ${limits.rows}) AS stored) AS sized
      GROUP BY bucket_at)`;
}
