import type { DeliveryQuery } from '@waypost/domain';
import { explainPage, type PlanNode } from '@waypost/history-store';
import { createRandom } from '../../../tools/simulator/random.js';
import { type BenchContext, dayName } from '../bench-context.js';
import { PAGE_SIZE, type PageShape } from './page-shapes.js';

export interface PlansRun {
  readonly checked: number;
  /** Rows fetched from the tables for one page. */
  readonly mostRowsRead: number;
  /** What a plan does that it should not. */
  readonly faults: readonly string[];
}

const PLANS_OF_EACH = 8;
const SEED = 12;
/** Of each list that is merged the row that is next, up to twelve, and the rows after the page. */
const AHEAD = 16;

/** EXPLAIN of every kind of page: only the days of its window, by an index, and no more rows than pages hold. */
export async function checkPlans(context: BenchContext, shapes: readonly PageShape[]): Promise<PlansRun> {
  const faults: string[] = [];
  let checked = 0;
  let mostRowsRead = 0;
  await context.reporter.during('Checking the plans', async () => {
    for (const { name, query } of shapes) {
      const random = createRandom(SEED);
      for (let number = 0; number < PLANS_OF_EACH; number += 1) {
        const asked = query(random);
        const plan = await explainPage(context.pages, asked);
        checked += 1;
        mostRowsRead = Math.max(mostRowsRead, rowsRead(plan));
        faults.push(...faultsOf(plan, asked).map((fault) => `${name}: ${fault}`));
      }
    }
  });
  return { checked, mostRowsRead, faults: [...new Set(faults)] };
}

export function faultsOf(plan: readonly PlanNode[], query: DeliveryQuery): string[] {
  const mostRows = PAGE_SIZE + AHEAD;
  const from = Math.max(query.startAt, query.after?.firstAttemptAt ?? query.startAt);
  const isOutside = (table: string): boolean => {
    const day = table.replace('deliveries_', '');
    return day < dayName(from) || day > dayName(query.endAt - 1);
  };
  return [
    ...plan.flatMap(({ 'Relation Name': table }) =>
      table !== undefined && isOutside(table) ? [`${table} is not of the window`] : [],
    ),
    ...plan.flatMap((node) =>
      /Seq Scan|Bitmap/.test(node['Node Type']) ? [`${node['Node Type']} is not an index`] : [],
    ),
    ...plan.flatMap((node) =>
      node['Node Type'] === 'Sort' && node['Actual Rows'] > mostRows ? ['a Sort of more than the page'] : [],
    ),
    ...(rowsRead(plan) > mostRows ? [`${String(rowsRead(plan))} rows are read for a page`] : []),
  ];
}

function rowsRead(plan: readonly PlanNode[]): number {
  const rows = plan
    .filter((node) => node['Relation Name'] !== undefined)
    .map((node) => (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)) * node['Actual Loops']);
  return Math.round(rows.reduce((sum, one) => sum + one, 0));
}
