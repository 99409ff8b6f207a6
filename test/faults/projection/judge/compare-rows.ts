import { ROW_COLUMNS, type Row } from './fold-log.js';

const SHOWN = 5;
const LONGEST_SHOWN = 200;

/** What the table and the fold of the log do not agree on; empty: they are equal in every byte. */
export function compareRows(expected: ReadonlyMap<string, Row>, found: ReadonlyMap<string, Row>): string[] {
  const missing = [...expected.keys()].filter((key) => !found.has(key));
  const extra = [...found.keys()].filter((key) => !expected.has(key));
  const different = [...expected].flatMap(([key, row]) => {
    const other = found.get(key);
    return other === undefined ? [] : differencesOf(key, row, other);
  });
  return [
    ...few(missing.map((key) => `${key} is missing`)),
    ...few(extra.map((key) => `${key} is there, but not in the log`)),
    ...few(different),
  ];
}

function differencesOf(key: string, expected: Row, found: Row): string[] {
  return ROW_COLUMNS.filter((column) => expected[column] !== found[column]).map(
    (column) => `${key}: ${column} is ${shown(found[column])} instead of ${shown(expected[column])}`,
  );
}

const shown = (value: string | null): string => JSON.stringify(value).slice(0, LONGEST_SHOWN);

function few(problems: readonly string[]): string[] {
  if (problems.length <= SHOWN) return [...problems];
  return [...problems.slice(0, SHOWN), `... and ${String(problems.length - SHOWN)} more of this kind`];
}
