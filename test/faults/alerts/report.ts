import { readFile, writeFile } from 'node:fs/promises';
import { machineText, readMachine } from '../../../bench/shared/report/machine.js';
import { formatted } from '../../../tools/codegen/formatted.js';
import { readJsonFile } from '../../../tools/dev-stack/index.js';
import { projectFile } from '../../../tools/dev-stack/project-root.js';
import { alertsOf } from '../../monitoring/deployed-expressions.js';
import type { AlertRow } from './alert-run.js';
import { NOT_PROVOKED } from './provocations.js';

const RAW = 'docs/results/alerts.json';
const PAGE = 'docs/results/alerts.md';

export function rowText(row: AlertRow): string {
  const beside = row.beside.length === 0 ? '' : `; beside it: ${row.beside.join(', ')}`;
  return `${row.alert}: ${row.by}; fires after ${String(row.firingAfterS)} s, ends ${String(row.endedAfterS)} s after the steps${beside}`;
}

/** Rows that were measured again replace the earlier ones. */
export async function saveRows(measured: readonly AlertRow[], factor: number): Promise<void> {
  const raw = projectFile(RAW);
  const earlier = ((await readJsonFile(raw)) as { rows: AlertRow[] } | null)?.rows ?? [];
  const again = new Set(measured.map(({ alert }) => alert));
  const rows = [...earlier.filter(({ alert }) => !again.has(alert)), ...measured];
  const order = alertsOf(await readFile(projectFile('deploy/prometheus/rules.yml'), 'utf8')).map(({ name }) => name);
  const sorted = rows.toSorted((a, b) => order.indexOf(a.alert) - order.indexOf(b.alert));
  const withoutRow = order.filter((alert) => !rows.some((row) => row.alert === alert));
  const machine = machineText(readMachine());
  await writeFile(raw, await formatted(raw, JSON.stringify({ machine, factor, rows: sorted })));
  const page = projectFile(PAGE);
  await writeFile(page, await formatted(page, pageText(sorted, { machine, factor, withoutRow })));
}

interface RunFacts {
  readonly machine: string;
  readonly factor: number;
  /** Alerts that are not in the rows. */
  readonly withoutRow: readonly string[];
}

function pageText(rows: readonly AlertRow[], { machine, factor, withoutRow }: RunFacts): string {
  return [
    '# Alerts, provoked',
    '',
    'Written by `npm run test:alerts-live -- --write-docs yes`; do not edit. What it does: [README](../../test/faults/alerts/README.md).',
    '',
    `- ${machine}`,
    `- the shipped rules with every duration (\`for\`, \`keep_firing_for\`, ranges, offsets) divided by ${String(factor)}, scraped and evaluated every second; what they compare with is as shipped, and a restart takes as long as always`,
    '- seconds from the fault to firing, and from the end of the steps of the runbook until the alert had ended',
    '',
    '| Alert | Provoked by | Fires after | Ended by | Ends after | Others that fired |',
    '| --- | --- | ---: | --- | ---: | --- |',
    ...rows.map(
      ({ alert, by, firingAfterS, endedBy, endedAfterS, beside }) =>
        `| ${linkTo(alert)} | ${by} | ${String(firingAfterS)} s | ${endedBy} | ${String(endedAfterS)} s | ${beside.join(', ')} |`,
    ),
    ...withoutRow.map(
      (alert) => `| ${linkTo(alert)} | not provoked: ${NOT_PROVOKED[alert] ?? 'not in these runs'} | | | | |`,
    ),
    '',
  ].join('\n');
}

function linkTo(alert: string): string {
  return `[${alert}](../operations.md#${alert.toLowerCase()})`;
}
