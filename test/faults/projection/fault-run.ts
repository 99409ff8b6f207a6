import { SESSION_TIMEOUT_MS, startReady } from '../shared/app-instance.js';
import { drain, type FaultCounts, runFaults, type Scheduled } from '../shared/fault-run.js';
import type { SuiteContext } from '../shared/fault-suite.js';
import { startAttemptWriter } from './attempt-writer.js';
import { makeProjectionSchedule, type ProjectionFault } from './faults.js';
import { createProjectionInjector } from './injector.js';
import { type Findings, judgeProjection } from './judge.js';
import { followProgress } from './progress.js';
import { type CommandLine, rebuildRun } from './rebuild-run.js';
import { startRival } from './rival.js';
import type { ProjectionStage } from './stage.js';

export interface FaultRunOptions {
  readonly durationMs: number;
  readonly attemptsPerSecond: number;
  /** null: nothing is rebuilt. */
  readonly waypost: CommandLine | null;
  readonly now: () => number;
  /** Default: by the seed. */
  readonly schedule?: readonly Scheduled<ProjectionFault>[];
  /** Default: true. */
  readonly secondReader?: boolean;
}

export interface FaultRunResult extends Findings {
  readonly faults: FaultCounts;
  readonly injected: number;
  readonly rivalBatches: number;
  /** From the last attempt and fault until the table had all of the log; null: it never had. */
  readonly caughtUpAfterMs: number | null;
  /** How long the history took to be filled again from nothing. */
  readonly rebuiltAfterMs: number | null;
}

const EVERY_MS = 1_500;
const CATCH_UP_WITHIN_MS = 120_000;

/** Faults by schedule while the log grows; then the table has to be its fold. */
export async function faultRun(
  suite: SuiteContext,
  stage: ProjectionStage,
  options: FaultRunOptions,
): Promise<FaultRunResult> {
  const { durationMs, attemptsPerSecond, waypost, now, secondReader = true } = options;
  const { seed, note } = suite;
  const { database, cluster, projectors } = stage;
  const problems: string[] = [];
  await startReady(projectors.map(({ instance }) => instance));
  const progress = followProgress(stage);
  const writer = await startAttemptWriter({ log: stage, seed, attemptsPerSecond, now });
  const onFatal = (error: Error): void => void problems.push(`the rival ended: ${error.message}`);
  const injector = createProjectionInjector({
    database,
    cluster,
    projectors,
    startRival: () => startRival(stage, { databaseUrl: database.url, onFatal }),
  });
  const { counts, injected } = injector;
  try {
    const { sent, drained } = await runFaults({
      suite,
      durationMs,
      injector,
      drainWithinMs: CATCH_UP_WITHIN_MS,
      schedule:
        options.schedule ??
        makeProjectionSchedule({
          seed,
          durationMs,
          projectors: projectors.length,
          sessionTimeoutMs: SESSION_TIMEOUT_MS,
          everyMs: EVERY_MS,
        }),
      report: () => Promise.resolve(`  ${String(injected())} faults, ${String(writer.written())} attempts in the log`),
      required: ['projector-kill', 'rival', 'database-kill', 'network-cut', 'broker-kill', 'broker-cut'],
      stopTraffic: () => writer.stop(),
      whatIsLeft: progress.whatIsLeft,
    });
    // The last commits are not on the disk yet, and no attempt will come that could show that they are lost.
    await database.killBackend();
    const { problems: lost } = await drain(progress.whatIsLeft, CATCH_UP_WITHIN_MS);
    const findings = await judgeProjection({ log: stage, database, nowMs: now(), secondReader });
    const { points } = sent;
    if (findings.points !== points)
      problems.push(`${String(points)} pings differ in device or time, the log has ${String(findings.points)} points`);
    const isRight = findings.problems.length === 0 && waypost !== null;
    if (isRight) note('  it is right; now it is emptied, and has to become the same again');
    const rebuilt = isRight ? await rebuildRun(stage, waypost) : { rebuiltAfterMs: null, problems: [] };
    const exits = await Promise.all(projectors.map((projector) => projector.unexpectedExits()));
    return {
      ...findings,
      faults: counts,
      injected: injected(),
      rivalBatches: injector.rivalBatches(),
      caughtUpAfterMs: drained.afterMs,
      rebuiltAfterMs: rebuilt.rebuiltAfterMs,
      problems: [
        ...[...drained.problems, ...lost, ...exits.flat(), ...injector.problems, ...problems],
        ...[...findings.problems, ...rebuilt.problems],
      ],
    };
  } finally {
    await progress.close();
  }
}
