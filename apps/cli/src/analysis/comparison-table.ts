import type { Comparison, Tally } from './comparison.js';

export const FIGURES = ['now', 'then', 'change', 'new', 'gone'];

/** Two tables: per device and type what would change, most first, and the sums by type. */
export function comparisonTable(comparison: Comparison, mostRows: number): string {
  const rows = comparison
    .rows()
    .filter((row) => changedCount(row) > 0)
    .sort((a, b) => changedCount(b) - changedCount(a));
  const devices = rows.slice(0, mostRows).map((row) => [row.fleetId, row.deviceId, row.eventType, ...figures(row)]);
  const types = comparison.totals().map((total) => [total.eventType, ...figures(total)]);
  const left = rows.length - devices.length;
  return [
    ...(devices.length === 0 ? [] : [alignColumns([['fleet', 'device', 'type', ...FIGURES], ...devices])]),
    ...(devices.length === 0 ? ['Nothing would change for any device.'] : []),
    ...(left > 0 ? [`(${String(left)} more rows of devices in the report)`] : []),
    '',
    alignColumns([['all devices', ...FIGURES], ...types]),
  ].join('\n');
}

/** Events that are only on one side. */
export function changedCount({ now, then, same }: Tally): number {
  return now - same + (then - same);
}

/** In the order of FIGURES. */
export function figures({ now, then, same }: Tally): string[] {
  return [
    String(now),
    String(then),
    `${then > now ? '+' : ''}${String(then - now)}`,
    String(then - same),
    String(now - same),
  ];
}

/** The figures, which are the last columns, stand on the right. */
function alignColumns(rows: readonly (readonly string[])[]): string {
  const columns = rows[0]?.length ?? 0;
  const widths = Array.from({ length: columns }, (_, column) =>
    Math.max(...rows.map((row) => (row[column] ?? '').length)),
  );
  const cellText = (cell: string, column: number): string =>
    column < columns - FIGURES.length ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0);
  return rows.map((row) => row.map(cellText).join('  ').trimEnd()).join('\n');
}
