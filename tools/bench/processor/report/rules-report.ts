import type { BenchResults } from '../bench-results.js';
import { GEOFENCES_PER_FLEET } from '../scenarios/geofences.js';
import type { Figures } from './figures.js';
import { counted } from './number-text.js';
import { drainTable, machineText, section } from './tables.js';

/** What all rules cost beside positions alone, as Markdown; null: not measured. */
export function rulesMarkdown(results: BenchResults, { rules }: Figures): string | null {
  if (rules === null) return null;
  const events = results.rules.map(({ answer }) => answer.events);
  return [
    machineText(results),
    ...section('All rules beside positions alone', drainTable(results.rules)),
    [
      `Best against best, with all rules and ${counted(GEOFENCES_PER_FLEET)} geofences a fleet it keeps ${percent(rules.recordsPerSecond)} of the records/s`,
      `and ${percent(rules.recordsPerCpuSecond)} of the records per CPU second, and writes ${counted(Math.max(...events))} events`,
      `instead of ${counted(Math.min(...events))}.`,
    ].join(' '),
  ].join('\n\n');
}

const percent = (ratio: number): string => `${(ratio * 100).toFixed(0)} %`;
