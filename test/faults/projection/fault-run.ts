import { SESSION_TIMEOUT_MS, startReady } from '../shared/app-instance.js';
import { type FaultCounts, play } from '../shared/fault-run.js';
import { startAttemptWriter } from './attempt-writer.js';
import { makeProjectionSchedule } from './faults.js';
import { createProjectionInjector } from './injector.js';
import { type Findings, judgeProjection } from './judge.js';
import { followProgress } from './progress.js';
import { type CommandLine, rebuildRun } from './rebuild-run.js';
import { startRival } from './rival.js';
import { readPoints } from './rows.js';
import { PARTITIONS, type ProjectionStage } from './stage.js';

export interface FaultRunOptions {
  readonly stage: ProjectionStage;
  readonly seed: number;
  readonly durationMs: number;
  readonly attemptsPerSecond: number;
  readonly waypost: CommandLine;
  readonly now: () => number;
  readonly note: (line: string) => void;
  /** Says every fault when it is made. */
  readonly verbose: boolean;
}

export interface FaultRunResult extends Findings {
  readonly faults: FaultCounts;
  readonly injected: number;
  readonly rivalBatches: number;
  /** Of all paths. */
  readonly points: number;
  /** From the last attempt and fault until the table had all of the log; null: it never had. */
  readonly caughtUpAfterMs: number | null;
  /** How long the history took to be filled again from nothing. */
  readonly rebuiltAfterMs: number | null;
}

const EVERY_MS = 1_500;
const REPORT_EVERY_MS = 10_000;
const CATCH_UP_WITHIN_MS = 120_000;

/** Faults by schedule while the log grows; then the table has to be its fold. */
export async function faultRun(options: FaultRunOptions): Promise<FaultRunResult> {
  const { stage, seed, durationMs, attemptsPerSecond, note, verbose, now } = options;
  const { kafka, registryUrl, database, projectors } = stage;
  const problems: string[] = [];
  await startReady(projectors.map(({ instance }) => instance));
  const progress = followProgress({ kafka, partitions: PARTITIONS, database, projectors });
  const writer = await startAttemptWriter({ kafka, registryUrl, partitions: PARTITIONS, seed, attemptsPerSecond, now });
  const onFatal = (error: Error): void => void problems.push(`the rival gave up: ${error.message}`);
  const world = {
    ...{ database, projectors },
    startRival: () => startRival({ kafka, registryUrl, databaseUrl: database.url, onFatal }),
  };
  const injector = createProjectionInjector(world);
  const { injected } = injector;
  const reporting = setInterval(() => {
    note(`  ${String(injected())} faults, ${String(writer.written())} attempts in the log`);
  }, REPORT_EVERY_MS);
  try {
    const { length } = projectors;
    await play({
      schedule: makeProjectionSchedule({
        ...{ seed, durationMs, projectors: length },
        ...{ sessionTimeoutMs: SESSION_TIMEOUT_MS, everyMs: EVERY_MS },
      }),
      ...{ durationMs, injector, note, verbose },
    });
    const { points } = await writer.stop();
    clearInterval(reporting);
    note('  the last fault is mended; the table has to be the fold of the log now');
    const { afterMs, problems: stuck } = await progress.caughtUp(CATCH_UP_WITHIN_MS);
    // The last commits are not on the disk yet, and no attempt will come that could show that they are lost.
    await database.killBackend();
    const { problems: lost } = await progress.caughtUp(CATCH_UP_WITHIN_MS);
    const findings = await judgeProjection({
      kafka,
      registryUrl,
      partitions: PARTITIONS,
      database,
      now,
      secondReader: true,
    });
    const found = (await database.query(readPoints)).length;
    if (found !== points)
      problems.push(`${String(points)} pings differ in device or time, but the paths have ${String(found)} points`);
    const isRight = findings.problems.length === 0;
    if (isRight) note('  it is; now it is emptied, and has to become the same again');
    const rebuilt = isRight ? await rebuildRun(stage, options.waypost) : { rebuiltAfterMs: null, problems: [] };
    const exits = await Promise.all(projectors.map((projector) => projector.unexpectedExits()));
    return {
      ...findings,
      ...{ faults: injector.counts, injected: injected(), rivalBatches: injector.rivalBatches() },
      ...{ points, caughtUpAfterMs: afterMs, rebuiltAfterMs: rebuilt.rebuiltAfterMs },
      problems: [
        ...stuck,
        ...lost,
        ...exits.flat(),
        ...injector.problems,
        ...problems,
        ...findings.problems,
        ...rebuilt.problems,
      ],
    };
  } finally {
    clearInterval(reporting);
    await progress.close();
  }
}
