import type pg from 'pg';
import {
  type ExpectedWaiting,
  POINT_COLUMNS,
  type PointColumn,
  type Row,
  ROW_COLUMNS,
  rowKey,
  WAITING_COLUMNS,
  type WaitingRow,
} from './fold-log.js';

const SHOWN = 5;
const LONGEST_SHOWN = 200;

/** What the table and the fold of the log do not agree on; empty: they are equal in every byte. */
export function compareRows(expected: ReadonlyMap<string, Row>, found: ReadonlyMap<string, Row>): string[] {
  const missing = [...expected.keys()].filter((key) => !found.has(key));
  const extra = [...found.keys()].filter((key) => !expected.has(key));
  const different = [...expected].flatMap(([key, row]) => {
    const other = found.get(key);
    return other === undefined ? [] : differencesOf(key, ROW_COLUMNS, row, other);
  });
  return [
    ...few(missing.map((key) => `${key} is missing`)),
    ...few(extra.map((key) => `${key} is there, but not in the log`)),
    ...few(different),
  ];
}

/** What is shown of deliveries without an attempt, and must not be, or the other way around. */
export function compareWaiting({ waiting, ended }: ExpectedWaiting, found: ReadonlyMap<string, WaitingRow>): string[] {
  const missing = [...waiting.keys()].filter((key) => !found.has(key));
  const left = [...found.keys()].filter((key) => ended.has(key));
  const different = [...waiting].flatMap(([key, row]) => {
    const other = found.get(key);
    return other === undefined ? [] : differencesOf(`waiting ${key}`, WAITING_COLUMNS, row, other);
  });
  return [
    ...few(missing.map((key) => `${key} waits and is not shown`)),
    ...few(left.map((key) => `${key} is shown as waiting, but has ended`)),
    ...few(different),
  ];
}

function differencesOf<Column extends string>(
  key: string,
  columns: readonly Column[],
  expected: Readonly<Record<Column, string | null>>,
  found: Readonly<Record<Column, string | null>>,
): string[] {
  return columns
    .filter((column) => expected[column] !== found[column])
    .map((column) => `${key}: ${column} is ${shown(found[column])} instead of ${shown(expected[column])}`);
}

function shown(value: string | null): string {
  return JSON.stringify(value).slice(0, LONGEST_SHOWN);
}

function few(problems: readonly string[]): string[] {
  if (problems.length <= SHOWN) return [...problems];
  return [...problems.slice(0, SHOWN), `... and ${String(problems.length - SHOWN)} more of this kind`];
}

function ms(column: string): string {
  return `(extract(epoch FROM ${column}) * 1000)::bigint::text AS ${column}`;
}

const ROWS = `
  SELECT event_id::text, series::text, fleet_id, device_id, subscription_id, event_type, format, replay_id, url, body, status,
         status_code::text, last_attempt::text, attempts, tableoid::regclass::text AS day,
         ${['event_time', 'created_at', 'first_attempt_at', 'last_attempt_at', 'delivered_at', 'next_attempt_at'].map(ms).join(', ')}
    FROM deliveries`;

/** Everything that the table holds. A second row of a delivery has a key that no delivery has. */
export async function readRows(client: pg.Client): Promise<Map<string, Row>> {
  const { rows } = await client.query<Row>(ROWS);
  const found = new Map<string, Row>();
  for (const row of rows) {
    const key = rowKey(row.event_id ?? '', row.series ?? '');
    found.set(found.has(key) ? `${key}, again in ${row.day ?? ''}` : key, row);
  }
  return found;
}

const WAITING = `
  SELECT event_id::text, series::text, fleet_id, device_id, subscription_id, event_type, format, replay_id, body,
         ${['event_time', 'created_at'].map(ms).join(', ')}
    FROM waiting_deliveries`;

export async function readWaiting(client: pg.Client): Promise<Map<string, WaitingRow>> {
  const { rows } = await client.query<WaitingRow>(WAITING);
  return new Map(rows.map((row) => [rowKey(row.event_id ?? '', row.series ?? ''), row]));
}

/** By partition of the attempt log. */
export async function readPositions(client: pg.Client, topic: string): Promise<Map<number, number>> {
  const { rows } = await client.query<{ partition: number; next_offset: string }>(
    'SELECT partition, next_offset FROM projection_positions WHERE topic = $1',
    [topic],
  );
  return new Map(rows.map((row) => [row.partition, Number(row.next_offset)]));
}

/** Every point of every path, as `foldPings` writes it. */
export async function readPathPoints(client: pg.Client): Promise<string[]> {
  const { rows } = await client.query<Record<PointColumn, unknown>>({
    text: `SELECT ${POINT_COLUMNS.map((name) => (name === 'event_time' ? ms(name) : name)).join(', ')} FROM path_points`,
  });
  return rows.map((row) => POINT_COLUMNS.map((name) => String(row[name])).join(' '));
}

/** Every point of every path, as text. */
export async function readPoints(client: pg.Client): Promise<string[]> {
  const { rows } = await client.query<{ point: string }>(
    'SELECT to_jsonb(p)::text AS point FROM path_points AS p ORDER BY fleet_id, device_id, event_time',
  );
  return rows.map(({ point }) => point);
}
