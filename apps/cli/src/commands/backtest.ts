import { writeFile } from 'node:fs/promises';
import { consumerGroups } from '@waypost/contracts';
import { DEFAULT_RULE_SETTINGS, type RuleSet, type RuleSettings } from '@waypost/domain';
import { openGroupProgress } from '@waypost/platform/without-nest';
import { type Comparison, createComparison } from '../analysis/comparison.js';
import { comparisonReport } from '../analysis/comparison-report.js';
import { comparisonTable } from '../analysis/comparison-table.js';
import {
  createRuleRun,
  currentRules,
  deviceOf,
  earliestToCome,
  readFleetSettings,
  readGeofences,
  readPings,
  type RecordedPing,
  type RuleRunOptions,
} from '../analysis/rule-run.js';
import { countWithExamples } from '../analysis/verify-report.js';
import { type StackEnvironment, stackEnvironment } from '../stack/stack-config.js';
import { kafkaSettings } from '../stack/stack-connections.js';
import { type Terminal, withProgress, writeLine } from '../terminal/output.js';

export interface BacktestOptions {
  readonly dataDir: string;
  /** Where the range of the log begins, epoch milliseconds. */
  readonly from: number | null;
  readonly to: number | null;
  readonly device: string | null;
  readonly settings: RuleSettings;
  /** Those that telemetry-processor was run with. */
  readonly rules: RuleSet;
  /** File of the HTML report; null: none. */
  readonly report: string | null;
}

const TABLE_ROWS = 40;

/**
 * Runs the rules over recorded pings twice, as they are and with other thresholds, and shows what would change (R-39). Both
 * runs begin at the beginning of the log, so that devices are remembered at `from` as they would be, and make routes and
 * stops where the fleet had them on at that time (R-9); nothing is written to the stack.
 */
export async function backtest(terminal: Terminal, options: BacktestOptions): Promise<void> {
  const { from, to, device, settings, rules, report } = options;
  const stack = await stackEnvironment(options.dataDir);
  const comparison = createComparison();
  const geofences = await readGeofences(stack);
  const fleetSettings = await readFleetSettings(stack);
  const current = currentRules(geofences.history, { rules, fleetSettings: fleetSettings.history });
  const compare = createComparer(current, options, comparison);
  let pings = 0;
  await withProgress(terminal, ({ onTotal, advance }) =>
    readPings(stack, { to, onTotal }, (batch) => {
      for (const recorded of batch) {
        if (device !== null && recorded.ping.deviceId !== device) continue;
        pings += Number(compare(recorded));
      }
      advance(batch.length, (done) => `${String(done)} pings`);
    }),
  );
  await writeLine(terminal.out, comparisonTable(comparison, TABLE_ROWS));
  if (await isCut(stack)) await writeLine(terminal.err, CUT_NOTE);
  const unreadable = rules === 'all' ? [...geofences.unreadable, ...fleetSettings.unreadable] : [];
  if (unreadable.length > 0) await writeLine(terminal.err, `${UNREADABLE_NOTE}: ${countWithExamples(unreadable)}`);
  if (report === null) return;
  const range = rangeText(from, to);
  await writeFile(report, comparisonReport(comparison, { now: DEFAULT_RULE_SETTINGS, then: settings, range, pings }));
  await writeLine(terminal.err, `The report is in ${report}.`);
}

/** @returns whether a ping is in the range */
function createComparer(
  current: RuleRunOptions,
  { from, settings }: BacktestOptions,
  comparison: Comparison,
): (recorded: RecordedPing) => boolean {
  const now = createRuleRun(current);
  const then = createRuleRun({ ...current, settings });
  return (recorded) => {
    const { partition, appendedAt, ping } = recorded;
    const inRange = from === null || appendedAt >= from;
    const [before, after] = [now.take(recorded), then.take(recorded)];
    if (before.state === null || after.state === null) return inRange;
    comparison.add({
      appendedAt,
      inRange,
      device: deviceOf(partition, ping),
      now: before.events,
      then: after.events,
      earliestToCome: Math.min(earliestToCome(before.state), earliestToCome(after.state)),
    });
    return inRange;
  };
}

const CUT_NOTE =
  'The oldest pings were deleted: both runs treat each device as new at its first remaining ping, so the results for ' +
  'its first hours may differ from the events that were sent.';

const UNREADABLE_NOTE =
  'Versions of geofences or settings cannot be decoded, and both runs use the ones before them, as the processor does';

async function isCut(stack: StackEnvironment): Promise<boolean> {
  const reader = await openGroupProgress(kafkaSettings(stack));
  try {
    return (await reader.read([consumerGroups.telemetryProcessor])).some(({ startOffset }) => startOffset > 0);
  } finally {
    await reader.close();
  }
}

function rangeText(from: number | null, to: number | null): string {
  const text = (ms: number): string => new Date(ms).toISOString();
  const begin = from === null ? 'From the beginning of the log' : `From ${text(from)}`;
  return `${begin} ${to === null ? 'to its end' : `to ${text(to)}`}`;
}
