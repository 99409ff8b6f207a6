/*
 * The fault suite of history-projector: `npm run test:projection-integrity -- --seed 7 --minutes 5`. See README.md.
 */
import { describeResult } from '../shared/fault-run.js';
import { runFaultSuite, type SuiteContext } from '../shared/fault-suite.js';
import { faultRun, type FaultRunResult } from './fault-run.js';
import { outageRun, type OutageRunResult } from './outage-run.js';
import { openProjectionStage } from './stage.js';

/** The last line of the suite. */
export interface ProjectionVerdict {
  readonly seed: number;
  /** null: left out. */
  readonly faults: FaultRunResult | null;
  readonly outage: OutageRunResult | null;
  readonly problems: readonly string[];
}

const INTACT = 'the table equals the fold of the log in every byte';

await runFaultSuite({
  name: 'projection-integrity',
  verdictKey: 'projectionIntegrity',
  flags: { minutes: '5', 'outage-minutes': '1', rate: '2000' },
  run: runBoth,
});

/** Both runs, one after the other, each on a broker and a database of its own. */
async function runBoth(suite: SuiteContext): Promise<ProjectionVerdict> {
  const durationMs = suite.number('minutes', 0) * 60_000;
  const awayMs = suite.number('outage-minutes', 0) * 60_000;
  const faults = durationMs > 0 ? await withFaults(suite, durationMs) : null;
  const outage = awayMs > 0 ? await withoutDatabase(suite, awayMs) : null;
  return { seed: suite.seed, faults, outage, problems: [...(faults?.problems ?? []), ...(outage?.problems ?? [])] };
}

function withFaults(suite: SuiteContext, durationMs: number): Promise<FaultRunResult> {
  const { seed, note } = suite;
  const attemptsPerSecond = suite.number('rate', 1);
  const seconds = String(Math.round(durationMs / 1_000));
  note(`Faults for ${seconds} s at ${String(attemptsPerSecond)} attempts/s, seed ${String(seed)}`);
  return suite.inPlace('faults', async (place) => {
    const stage = await openProjectionStage(place, suite.program('history-projector'));
    try {
      const waypost = { program: suite.program('cli'), env: place.env };
      const result = await faultRun(suite, stage, { durationMs, attemptsPerSecond, waypost, now: Date.now });
      for (const line of describeFaultRun(result)) note(line);
      return result;
    } finally {
      await stage.stop();
    }
  });
}

function withoutDatabase(suite: SuiteContext, awayMs: number): Promise<OutageRunResult> {
  const { note } = suite;
  note(`The database is away for ${String(Math.round(awayMs / 1_000))} s while deliveries go on`);
  return suite.inPlace('outage', async (place) => {
    const programs = { sender: suite.program('webhook-delivery'), projector: suite.program('history-projector') };
    const result = await outageRun(place, { programs, awayMs, now: Date.now, note });
    for (const line of describeOutageRun(result)) note(line);
    return result;
  });
}

function describeFaultRun(result: FaultRunResult): string[] {
  const { faults, injected, rivalBatches, attempts, rows, points, caughtUpAfterMs, rebuiltAfterMs } = result;
  const summary = [
    `${String(injected)} faults; ${String(attempts)} attempts in the log, ${String(rows)} rows, ${String(points)} points; ` +
      `rivals wrote ${String(rivalBatches)} batches; ${caughtUp(caughtUpAfterMs)}`,
    `emptied and rebuilt from the log in ${String(rebuiltAfterMs)} ms`,
  ];
  return describeResult(faults, summary, result.problems, INTACT);
}

function describeOutageRun({
  attempts,
  rows,
  attemptsPerSecond,
  caughtUpAfterMs,
  problems,
}: OutageRunResult): string[] {
  const { before, away } = attemptsPerSecond;
  const summary =
    `records/s in the attempt log: ${String(before)} before, ${String(away)} while the database was away; ` +
    `${String(attempts)} attempts, ${String(rows)} rows; ${caughtUp(caughtUpAfterMs)}`;
  return describeResult({}, [summary], problems, INTACT);
}

function caughtUp(afterMs: number | null): string {
  return afterMs === null ? 'never caught up' : `caught up within ${String(afterMs)} ms`;
}
