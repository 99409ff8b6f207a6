/** SQL by hand: the rows of a group are joined into one text by the server, which TypeORM cannot express. */
import { type PageSource, type PreparedQuery, storableText } from '@waypost/database';
import { instant } from '../pages/page-sql.js';
import { FIGURE_STEPS, type FigureStep } from './figure-cells.js';
import type { SummedFigures } from './figures.js';
import { PackedSum } from './packed-figures.js';

export type FigureGroup = 'none' | 'subscription' | 'eventType';

export interface FiguresQuery {
  readonly fleetId: string;
  /** Buckets that start from here on, inclusive. */
  readonly startAt: number;
  /** Exclusive. */
  readonly endAt: number;
  readonly step: FigureStep;
  readonly groupBy: FigureGroup;
  readonly subscriptionId?: string | undefined;
  /** Only figures of these; absent: of all. */
  readonly subscriptionIds?: readonly string[] | undefined;
  /** Absent or empty: all. */
  readonly eventTypes?: readonly string[] | undefined;
}

export interface FigureRow {
  /** Epoch milliseconds. */
  readonly startAt: number;
  /** A subscription id or an event type; empty when not grouped. */
  readonly group: string;
  readonly figures: SummedFigures;
}

export type FiguresResult =
  | { readonly type: 'figures'; readonly rows: readonly FigureRow[] }
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
      const rows = await pages.read<JoinedCells>(query.fleetId, findFigures(query));
      if (rows.reduce((sum, { cells }) => sum + cells, 0) > MAX_CELLS) return { type: 'too_many' };
      const sum = new PackedSum();
      return {
        type: 'figures',
        rows: rows.map(({ minutes, group, figures }) => ({
          startAt: minutes * MINUTE_MS,
          group,
          figures: sum.of(figures),
        })),
      };
    },
  };
}

interface JoinedCells {
  /** Since 1970: a number costs less to read than a time. */
  readonly minutes: number;
  readonly group: string;
  readonly cells: number;
  readonly figures: string;
}

const GROUP_COLUMNS: Readonly<Record<FigureGroup, string | null>> = {
  none: null,
  subscription: 'subscription_id',
  eventType: 'event_type',
};

function findFigures(query: FiguresQuery): PreparedQuery {
  const { fleetId, step, startAt, endAt, groupBy, subscriptionId, subscriptionIds, eventTypes = [] } = query;
  const parameters: unknown[] = [storableText(fleetId), FIGURE_STEPS[step], instant(startAt), instant(endAt)];
  const where = ['fleet_id = $1', 'step = $2', 'bucket_at >= $3', 'bucket_at < $4'];
  if (subscriptionId !== undefined) where.push(`subscription_id = $${String(parameters.push(subscriptionId))}`);
  if (subscriptionIds !== undefined) {
    where.push(`subscription_id = ANY($${String(parameters.push(subscriptionIds))}::text[])`);
  }
  const group = GROUP_COLUMNS[groupBy];
  // As the primary key has them, so that they are joined while they are read: a table of all groups would not fit into memory.
  const order = ['bucket_at', ...(group === null ? [] : [group])].join(', ');
  if (eventTypes.length > 0) where.push(`event_type = ANY($${String(parameters.push(eventTypes))}::text[])`);
  return {
    name: `figures ${groupBy} ${[subscriptionId, subscriptionIds].map((given) => String(given !== undefined)).join(' ')} ${String(eventTypes.length > 0)}`,
    text: `
      SELECT (extract(epoch FROM bucket_at) / 60)::integer AS minutes, ${group ?? "''"} AS "group",
             count(*)::integer AS cells, string_agg(figures, ',') AS figures
        FROM (SELECT * FROM fleet_delivery_figures WHERE ${where.join(' AND ')}
               ORDER BY ${order} LIMIT ${String(MAX_CELLS + 1)}) AS cells
       GROUP BY ${order} ORDER BY ${order}`,
    parameters,
  };
}
