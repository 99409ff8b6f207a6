import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { interpolationsInSql } from './sql-interpolations.js';

const root = join(import.meta.dirname, '../..');

/**
 * What may stand in the text of SQL although it is no constant, by file: names of tables and columns that we made up
 * ourselves, pieces of SQL that are put together of such, and `$1`. Values of callers never: they are parameters.
 */
const REVIEWED: Readonly<Record<string, readonly string[]>> = {
  'libs/database/src/migrations/page-keys-1760000700000.ts': ['name', 'columns', 'LAST_DROPPED'],
  // Names that migrations choose, and names of days from the catalog.
  'libs/database/src/migrations/online-index.ts': [
    ...['name', 'table', 'columns', 'where', 'rows', 'ofDay', 'nameAndColumns'],
  ],
  'libs/database/src/migrations/fleet-isolation-1760002100000.ts': ['table', 'isFleet'],
  // The names of our two roles, and of days, which this code computes.
  'libs/database/src/database-roles.ts': ['day'],
  'libs/history-store/src/deliveries/delivery-sql.ts': ['partition', 'String(PROBE_LINES)'],
  'libs/history-store/src/deliveries/find-deliveries-sql.ts': [
    ...["[...keyConditions(key, all), ...conditions(all), ...window].join(' AND ')", 'merge(lists, order.merge)'],
    ...['limit', 'typeArray', 'ofType', 'stream', 'order.by', "ordered.join(' UNION ALL ')"],
    ...['subscriptions', 'pageText(page, ofOne, window, limit)', 'orderBy'],
  ],
  // Names of statuses and columns, and `$n`.
  'libs/history-store/src/deliveries/subscription-activity.ts': [
    ...['String(MAX_SEARCHED)', 'String(MAX_COMPARED)', 'WAS_ATTEMPTED'],
    ...['key', 'status', 'from', 'deliveriesOf(status, from)', 'String(MAX_COUNTED_PENDING)'],
    ...["deliveriesOf('delivered', '$3::timestamptz')", "deliveriesOf('pending', '$3::timestamptz')"],
    ...["oldest('failed')", "oldest('pending')"],
  ],
  // Names of columns and statuses, conditions of such and of `$n`, and lists of these.
  'libs/history-store/src/deliveries/resendable-deliveries.ts': [
    ...['where', 'name', 'list', "read.join(', ')", "isCut.join(' OR ')", 'matching', 'most', 'mostRead'],
    ...['ofDevice', 'hasFirst', 'candidates', 'latest', 'hasResult', 'fleet', 'subscription', 'since', 'window'],
  ],
  // A table or an alias, by our own code.
  'libs/history-store/src/deliveries/delivery-conditions.ts': ['types', 'deliveries', 'row'],
  // The statement of a page, its order, and `$n`.
  'libs/history-store/src/deliveries/record-sql.ts': ['page', 'orderBy', 'most', 'maxBytes'],
  'libs/history-store/src/deliveries/find-event-sql.ts': ['conditions', 'since', 'most'],
  'libs/history-store/src/deliveries/find-waiting-sql.ts': [
    ...['created', 'attempted', 'rows', 'all', "window('w.created_at')"],
    ...['orderBy(order)', 'most', "columns.join(', ')"],
  ],
  // The statement of a page as a part of another.
  'libs/history-store/src/deliveries/postgres-delivery-history.ts': ['text'],
  // Columns that we choose by the grouping and the step, conditions with `$n`, and constants.
  'libs/history-store/src/figures/figures-sql.ts': [
    ...['String(index)', 'GROUPS[groupBy]', 'String(rowStep)'],
    ...["columns.join(' || ')", "columns.join(', ')", "where.join(' AND ')", 'limits.bytes', 'limits.rows'],
    "[...lengths, String(ROW_BYTES)].join(' + ')",
  ],
  // Names of days, which this code computes, and a condition on two columns.
  'libs/history-store/src/figures/write-figures.ts': [
    ...['table', "isLong('figures', '$9', '$10')", "isLong('minutes', '$11', '$12')"],
  ],
  // Names of days, which this code computes.
  'libs/history-store/src/partitions/daily-partitions.ts': [
    ...['name', 'table', 'table.name', "inSchemaOf('$1')"],
    ...['bounds(dayMs)', 'isoDay(dayMs)', 'isoDay(dayMs + DAY_MS)'],
  ],
  'libs/history-store/src/partitions/daily-table.ts': ['table'],
  // Names from the catalog that match our pattern; FINALIZE or CONCURRENTLY.
  'libs/history-store/src/partitions/expired-partitions.ts': [
    ...['name', 'table.name', "inSchemaOf('$1')", "isDetaching ? 'FINALIZE' : 'CONCURRENTLY'"],
    ...['unlock', 'String(retentionLock)'],
  ],
  'libs/history-store/src/paths/postgres-path-history.ts': ['conditions', 'most', 'rest', 'others'],
  // One message with a COPY, which takes no parameters: escaped by the driver, or checked to be a number.
  'libs/history-store/src/projection/projection-transaction.ts': [
    ...['pg.escapeLiteral(topic)', 'whole(partition)', 'whole(nextOffset)', 'whole(expectedOffset)'],
    ...['moveProgress(move)', 'time'],
  ],
  'libs/history-store/src/rebuild/history-rebuild.ts': ["Object.keys(logs).join(', ')"],
  // Only for EXPLAIN; literals are escaped.
  'libs/history-store/src/sql/explain-query.ts': ["parameters.map(literal).join(', ')"],
  'libs/management-store/src/repair/refill.ts': ['table'],
  // The statement that finds the rows, as a part of another, and ASC or DESC.
  'libs/management-store/src/stores/list-page.ts': ['sizes', 'direction'],
  'tools/dev-stack/postgres/embedded-postgres.ts': ['client.escapeIdentifier(name)'],
};

const MENTIONS_SQL = /\b(SELECT|INSERT|UPDATE|DELETE|COPY|TRUNCATE|LISTEN|CREATE|ALTER|DROP)\b/;

describe('The law of SQL', () => {
  it.each([
    ['a value in a template', 'db.query(`SELECT * FROM fleets WHERE id = ${fleetId}`);', ['fleetId']],
    ['a quoted value', "db.query(`SELECT * FROM fleets WHERE id = '${fleet.id}'`);", ['fleet.id']],
    ['a value that is added', "db.query('SELECT * FROM fleets WHERE id = ' + id + ' AND x');", ['id']],
    ['a column that a caller chooses', 'db.query(`UPDATE fleets SET ${column} = $1`, [1]);', ['column']],
    ['a list of values', "db.query(`DELETE FROM keys WHERE id IN (${ids.join(',')})`);", ["ids.join(',')"]],
    ['a limit', 'const page = `ORDER BY id LIMIT ${String(limit)}`;', ['String(limit)']],
  ])('finds %s', (_what, source, expressions) => {
    const found = interpolationsInSql('planted.ts', source).map(({ expression }) => expression);
    expect(found).toEqual(expressions);
  });

  it.each([
    ['parameters', "db.query('SELECT * FROM fleets WHERE id = $1', [fleetId]);"],
    ['constants of the module', 'db.query(`SELECT ${COLUMNS} FROM fleets ${ORDER_BY}`);'],
    ['text that is not SQL', 'log(`the fleet ${id} was selected from ${count}`);'],
  ])('lets %s be', (_what, source) => expect(interpolationsInSql('planted.ts', source)).toEqual([]));

  it('holds: values are parameters, and what else stands in SQL has been looked at', () => {
    const files = ['apps', 'libs', 'tools'].flatMap((folder) => sourcesIn(folder));
    expect(files.length).toBeGreaterThan(200);
    const unknown = files.flatMap((file) => {
      const text = readFileSync(join(root, file), 'utf8');
      if (!MENTIONS_SQL.test(text)) return [];
      return interpolationsInSql(file, text)
        .filter(({ expression }) => REVIEWED[file]?.includes(expression) !== true)
        .map(({ line, expression }) => `${file}:${String(line)} puts ${expression} into SQL`);
    });
    // Make it a parameter ($1); a piece of our own SQL goes into REVIEWED.
    expect(unknown).toEqual([]);
  });
});

function sourcesIn(folder: string): string[] {
  const excluded = /node_modules|\.(spec|contract|d)\.ts$|\/testing\/|^tools\/bench\//;
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => `${folder}/${name}`)
    .filter((file) => !excluded.test(file));
}
