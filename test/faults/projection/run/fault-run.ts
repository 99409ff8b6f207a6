import { setTimeout as sleep } from 'node:timers/promises';
import { SESSION_TIMEOUT_MS, startReady } from '../../processor/run/stage.js';
import { judgeProjection, type Findings } from '../judge/judge-projection.js';
import { readPoints } from '../judge/read-rows.js';
import { startAttemptWriter } from '../log/attempt-writer.js';
import { makeProjectionSchedule } from '../schedule/make-projection-schedule.js';
import { describeProjectionFault, type ProjectionFaultKind } from '../schedule/projection-fault.js';
import { PARTITIONS, type ProjectionStage } from '../stage/projection-stage.js';
import { startRival } from '../stage/rival.js';
import { createInjector, type Injector } from './inject.js';
import { followProgress } from './progress.js';
import { rebuildRun, type CommandLine } from './rebuild-run.js';

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
  readonly faults: Readonly<Partial<Record<ProjectionFaultKind, number>>>;
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
  const { stage, seed, attemptsPerSecond, note, now } = options;
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
  const injector = createInjector(world, (fault, error) => {
    problems.push(`${describeProjectionFault(fault)} could not be made: ${String(error)}`);
  });
  const injected = (): number => Object.values(injector.counts).reduce((sum, count) => sum + count, 0);
  const reporting = setInterval(() => {
    note(`  ${String(injected())} faults, ${String(writer.written())} attempts in the log`);
  }, REPORT_EVERY_MS);
  try {
    await play(options, injector);
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
      problems: [...stuck, ...lost, ...exits.flat(), ...problems, ...findings.problems, ...rebuilt.problems],
    };
  } finally {
    clearInterval(reporting);
    await progress.close();
  }
}

async function play({ seed, durationMs, stage, note, verbose }: FaultRunOptions, injector: Injector): Promise<void> {
  const projectors = stage.projectors.length;
  const schedule = makeProjectionSchedule({
    ...{ seed, durationMs, projectors },
    sessionTimeoutMs: SESSION_TIMEOUT_MS,
    everyMs: EVERY_MS,
  });
  const startedAt = performance.now();
  const elapsedMs = (): number => performance.now() - startedAt;
  for (const { atMs, fault } of schedule) {
    await sleep(Math.max(0, atMs - elapsedMs()));
    if (verbose) note(`  ${(elapsedMs() / 1_000).toFixed(1)} s ${describeProjectionFault(fault)}`);
    injector.inject(fault);
  }
  await sleep(Math.max(0, durationMs - elapsedMs()));
  await injector.settled();
}
