import type { Comparison, Tally } from './comparison.js';

const HEAD = ['fleet', 'device', 'type', 'now', 'then', 'change', 'new', 'gone'];
/** Columns of text; the others are numbers and stand on the right. */
const TEXT_COLUMNS = 3;

/** Per device and type what would change, most first, then the sums by type. */
export function comparisonTable(comparison: Comparison, mostRows: number): string {
  const rows = comparison
    .rows()
    .filter((row) => changed(row) > 0)
    .sort((a, b) => changed(b) - changed(a));
  const shown = rows.slice(0, mostRows).map((row) => [row.fleetId, row.deviceId, row.eventType, ...figures(row)]);
  const totals = comparison.totals().map((total) => ['all', '', total.eventType, ...figures(total)]);
  const text = aligned([HEAD, ...shown, ...totals]);
  const left = rows.length - shown.length;
  return left > 0 ? `${text}\n(${String(left)} more rows of devices in the report)` : text;
}

/** Events that are only on one side. */
export const changed = ({ now, then, same }: Tally): number => now - same + (then - same);

/** now, then, change, new, gone */
export const figures = ({ now, then, same }: Tally): string[] => [
  String(now),
  String(then),
  `${then > now ? '+' : ''}${String(then - now)}`,
  String(then - same),
  String(now - same),
];

function aligned(rows: readonly (readonly string[])[]): string {
  const widths = HEAD.map((_, column) => Math.max(...rows.map((row) => (row[column] ?? '').length)));
  return rows
    .map((row) =>
      row
        .map((cell, column) =>
          column < TEXT_COLUMNS ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0),
        )
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}
