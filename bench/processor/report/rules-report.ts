import type { BenchResults } from '../bench-results.js';
import { GEOFENCES_PER_FLEET } from '../scenarios/geofences.js';
import type { Figures, SpeedRatio } from './figures.js';
import { counted } from './number-text.js';
import { drainTable, machineText, section } from './tables.js';

/** What all rules cost, as Markdown; null: not measured. */
export function rulesMarkdown(results: BenchResults, { rules }: Figures): string | null {
  if (rules === null) return null;
  const { ofUnasked, ofPositions } = rules;
  const events = results.rules.map(({ answer }) => answer.events);
  return [
    machineText({ ...results, expected: results.rulesExpected }),
    ...section('All rules', drainTable(results.rules)),
    [
      `Best against best, with routes and ${counted(GEOFENCES_PER_FLEET)} geofences a fleet it keeps ${speedText(ofUnasked)} of what it does`,
      `while no fleet asks for either, and writes ${counted(Math.max(...events))} events instead of ${counted(Math.min(...events))}.`,
      `Of positions alone it keeps ${speedText(ofPositions)}.`,
    ].join(' '),
  ].join('\n\n');
}

const speedText = ({ recordsPerSecond, recordsPerCpuSecond }: SpeedRatio): string =>
  `${percent(recordsPerSecond)} of the records/s and ${percent(recordsPerCpuSecond)} of the records per CPU second`;

const percent = (ratio: number): string => `${(ratio * 100).toFixed(0)} %`;
