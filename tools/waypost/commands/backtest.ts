import { writeFile } from 'node:fs/promises';
import { DEFAULT_RULE_SETTINGS, type RuleSettings } from '@waypost/domain';
import { createComparison } from '../analysis/comparison.js';
import { comparisonReport } from '../analysis/comparison-report.js';
import { comparisonTable } from '../analysis/comparison-table.js';
import { readGeofences, readPings } from '../analysis/recorded-log.js';
import { createRuleRun } from '../analysis/rule-run.js';
import { stackEnvironment } from '../stack/stack-config.js';
import { writeLine, type Terminal } from '../terminal/output.js';
import { createProgress, type Progress } from '../terminal/progress.js';

export interface BacktestOptions {
  readonly dataDir: string;
  /** Of the log, epoch milliseconds. */
  readonly from: number | null;
  readonly to: number | null;
  readonly device: string | null;
  readonly settings: RuleSettings;
  /** File of the HTML report; null: none. */
  readonly report: string | null;
}

const TABLE_ROWS = 40;

/**
 * Runs the rules over recorded pings twice, as they are and with other thresholds, and shows what would change (R-39). Both
 * runs begin at the beginning of the log, so that devices are remembered at `from` as they would be; nothing is written to
 * the stack.
 */
export async function backtest(terminal: Terminal, options: BacktestOptions): Promise<void> {
  const { from, to, device, settings, report } = options;
  const stack = await stackEnvironment(options.dataDir);
  const geofences = await readGeofences(stack);
  const now = createRuleRun(DEFAULT_RULE_SETTINGS, geofences);
  const then = createRuleRun(settings, geofences);
  const comparison = createComparison();
  const shown: { progress: Progress | null } = { progress: null };
  let read = 0;
  let pings = 0;
  const onTotal = (offsets: number): void => {
    shown.progress = createProgress(terminal, offsets);
  };
  try {
    await readPings(stack, { to, onTotal }, (batch) => {
      for (const recorded of batch) {
        if (device !== null && recorded.ping.deviceId !== device) continue;
        const [before, after] = [now.take(recorded), then.take(recorded)];
        if (from !== null && recorded.appendedAt < from) continue;
        pings += 1;
        comparison.add(recorded.appendedAt, before, after);
      }
      read += batch.length;
      shown.progress?.update(read, `${String(read)} pings`);
    });
  } finally {
    shown.progress?.stop();
  }
  await writeLine(terminal.out, comparisonTable(comparison, TABLE_ROWS));
  if (report === null) return;
  const range = rangeText(from, to);
  await writeFile(report, comparisonReport(comparison, { now: DEFAULT_RULE_SETTINGS, then: settings, range, pings }));
  await writeLine(terminal.err, `The report is in ${report}.`);
}

function rangeText(from: number | null, to: number | null): string {
  const text = (ms: number): string => new Date(ms).toISOString();
  const begin = from === null ? 'From the beginning of the log' : `From ${text(from)}`;
  return `${begin} ${to === null ? 'to its end' : `to ${text(to)}`}`;
}
