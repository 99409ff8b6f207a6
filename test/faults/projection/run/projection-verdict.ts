import type { FaultRunResult } from './fault-run.js';
import type { OutageRunResult } from './outage-run.js';

/** The last line of the suite. */
export interface ProjectionVerdict {
  readonly projectionIntegrity: 'intact' | 'broken';
  readonly seed: number;
  /** null: left out. */
  readonly faults: FaultRunResult | null;
  readonly outage: OutageRunResult | null;
}

export function verdictOf(
  seed: number,
  faults: FaultRunResult | null,
  outage: OutageRunResult | null,
): ProjectionVerdict {
  const problems = [...(faults?.problems ?? []), ...(outage?.problems ?? [])];
  return { projectionIntegrity: problems.length === 0 ? 'intact' : 'broken', seed, faults, outage };
}

export function describeFaultRun(result: FaultRunResult): string[] {
  const { faults, injected, rivalBatches, attempts, rows, points, caughtUpAfterMs, rebuiltAfterMs } = result;
  const kinds = Object.entries(faults).sort(([a], [b]) => (a < b ? -1 : 1));
  const width = Math.max(0, ...kinds.map(([kind]) => kind.length));
  return [
    ...kinds.map(([kind, number]) => `    ${kind.padEnd(width)}  ${String(number)}`),
    `  ${String(injected)} faults; ${String(attempts)} attempts in the log, ${String(rows)} rows, ${String(points)} points; ` +
      `rivals wrote ${String(rivalBatches)} batches; ${caughtUp(caughtUpAfterMs)}`,
    `  emptied and rebuilt from the log in ${String(rebuiltAfterMs)} ms`,
    ...outcomeOf(result.problems),
  ];
}

export function describeOutageRun(result: OutageRunResult): string[] {
  const { attempts, rows, attemptsPerSecond, caughtUpAfterMs } = result;
  return [
    `  records/s in the log of attempts: ${String(attemptsPerSecond.before)} before, ${String(attemptsPerSecond.away)} ` +
      `while the database was away; ${String(attempts)} attempts, ${String(rows)} rows; ${caughtUp(caughtUpAfterMs)}`,
    ...outcomeOf(result.problems),
  ];
}

const caughtUp = (afterMs: number | null): string =>
  afterMs === null ? 'never caught up' : `caught up within ${String(afterMs)} ms`;

function outcomeOf(problems: readonly string[]): string[] {
  if (problems.length === 0) return ['  intact: the table equals the fold of the log in every byte'];
  return ['  BROKEN:', ...problems.map((problem) => `    ${problem}`)];
}
