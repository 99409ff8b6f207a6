import type { DeliveryQuery } from '@waypost/domain';
import pg, { type PoolClient } from 'pg';
import type { PageSource } from '@waypost/database';
import { findDeliveriesSql } from './find-deliveries-sql.js';

/** A node of a plan that was executed, as `EXPLAIN (ANALYZE, FORMAT JSON)` tells it. */
export interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  /** As the index of all days is called. */
  readonly 'Index Name'?: string;
  readonly 'Index Cond'?: string;
  /** On average of the loops. */
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly Plans?: readonly PlanNode[];
}

/** Runs a page's query and tells all nodes of its plan, which is the one that pages are read with; empty: it has no query. */
export async function explainPage(pages: PageSource, query: DeliveryQuery): Promise<readonly PlanNode[]> {
  const sql = findDeliveriesSql(query);
  if (sql === null) return [];
  return pages.withConnection((client) => explained(client, sql.text, sql.parameters));
}

/** By PREPARE and EXECUTE: a statement that is explained with its parameters is planned for them. */
export async function explained(client: PoolClient, text: string, parameters: readonly unknown[]): Promise<PlanNode[]> {
  const values = parameters.map(literal);
  await client.query(`PREPARE explained_page AS ${text}`);
  const { rows } = await client.query<{ 'QUERY PLAN': readonly { readonly Plan: PlanNode }[] }>(
    `EXPLAIN (ANALYZE, FORMAT JSON) EXECUTE explained_page (${values.join(', ')})`,
  );
  await client.query('DEALLOCATE explained_page');
  const parents = await indexParents(client);
  return (rows[0]?.['QUERY PLAN'] ?? [])
    .flatMap(({ Plan }) => nodesOf(Plan))
    .map((node) => {
      const name = parents.get(node['Index Name'] ?? '');
      return name === undefined ? node : { ...node, 'Index Name': name };
    });
}

/** The index of all days by the name of each day's own. */
async function indexParents(client: PoolClient): Promise<ReadonlyMap<string, string>> {
  const { rows } = await client.query<{ day: string; all: string }>(
    `SELECT day.relname AS day, parent.relname AS all
       FROM pg_inherits JOIN pg_class day ON day.oid = inhrelid JOIN pg_class parent ON parent.oid = inhparent
      WHERE parent.relkind = 'I'`,
  );
  return new Map(rows.map(({ day, all }) => [day, all]));
}

const nodesOf = (node: PlanNode): PlanNode[] => [node, ...(node.Plans ?? []).flatMap(nodesOf)];

function literal(value: unknown): string {
  if (Array.isArray(value)) return `ARRAY[${value.map(literal).join(', ')}]::text[]`;
  return typeof value === 'number' ? String(value) : pg.escapeLiteral(String(value));
}
