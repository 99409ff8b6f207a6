import pg, { type PoolClient } from 'pg';
import type { PageSource, PreparedQuery } from '@waypost/database';

/** A node of an executed plan, from `EXPLAIN (ANALYZE, FORMAT JSON)`. */
export interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  /** The name of the table's index, not of the index of a day. */
  readonly 'Index Name'?: string;
  readonly 'Index Cond'?: string;
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly Plans?: readonly PlanNode[];
}

/** Uses PREPARE and EXECUTE: EXPLAIN of a statement with parameter values would plan it for these values. */
export function explainQuery(
  pages: PageSource,
  fleetId: string,
  { text, parameters }: PreparedQuery,
): Promise<PlanNode[]> {
  return pages.withConnection(fleetId, async (client) => {
    await client.query(`PREPARE explained_page AS ${text}`);
    const { rows } = await client.query<{ 'QUERY PLAN': readonly { readonly Plan: PlanNode }[] }>(
      `EXPLAIN (ANALYZE, FORMAT JSON) EXECUTE explained_page (${parameters.map(literal).join(', ')})`,
    );
    await client.query('DEALLOCATE explained_page');
    const parents = await indexParents(client);
    return (rows[0]?.['QUERY PLAN'] ?? [])
      .flatMap(({ Plan }) => nodesOf(Plan))
      .map((node) => {
        const name = parents.get(node['Index Name'] ?? '');
        return name === undefined ? node : { ...node, 'Index Name': name };
      });
  });
}

/** Maps each day's index to the table's index. */
async function indexParents(client: PoolClient): Promise<ReadonlyMap<string, string>> {
  const { rows } = await client.query<{ day: string; all: string }>(
    `SELECT day.relname AS day, parent.relname AS all
       FROM pg_inherits JOIN pg_class day ON day.oid = inhrelid JOIN pg_class parent ON parent.oid = inhparent
      WHERE parent.relkind = 'I'`,
  );
  return new Map(rows.map(({ day, all }) => [day, all]));
}

function nodesOf(node: PlanNode): PlanNode[] {
  return [node, ...(node.Plans ?? []).flatMap(nodesOf)];
}

function literal(value: unknown): string {
  if (Array.isArray(value)) return `ARRAY[${value.map(literal).join(', ')}]::text[]`;
  return typeof value === 'number' ? String(value) : pg.escapeLiteral(String(value));
}
