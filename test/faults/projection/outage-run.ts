import { setTimeout as sleep } from 'node:timers/promises';
import { openDeliveryStage } from '../delivery/stage.js';
import { startTraffic } from '../delivery/traffic.js';
import { startReady } from '../shared/app-instance.js';
import { drain } from '../shared/fault-run.js';
import type { Place } from '../shared/fault-suite.js';
import { openDatabase } from './database.js';
import { type Findings, judgeProjection } from './judge.js';
import { followProgress } from './progress.js';
import { createProjectors, stopProjectors } from './stage.js';

export interface OutageRunOptions {
  /** Built main files. */
  readonly programs: { readonly sender: string; readonly projector: string };
  /** For how long the database is away. */
  readonly awayMs: number;
  readonly now: () => number;
  readonly note: (line: string) => void;
}

export interface OutageRunResult extends Findings {
  readonly awayMs: number;
  /** Offsets that the attempt log grew by in a second, while the database was there and while it was away. */
  readonly attemptsPerSecond: { readonly before: number; readonly away: number };
  /** From the return of the database until the table had all of the log, which was still growing. */
  readonly caughtUpAfterMs: number | null;
}

const DELIVERIES_PER_SECOND = 200;
const BEFORE_MS = 4_000;
const CATCH_UP_WITHIN_MS = 120_000;
/** Deliveries go on as if nothing had happened; the rest is for a machine that is busy with other things. */
const LEAST_SHARE = 0.5;

/** Real deliveries, whose history has no place to go for a while. */
export async function outageRun(place: Place, options: OutageRunOptions): Promise<OutageRunResult> {
  const { programs, awayMs, now, note } = options;
  const problems: string[] = [];
  const delivery = await openDeliveryStage(place, { instances: 1, program: programs.sender, now });
  const { kafka, registryUrl, subscribers } = delivery;
  const database = await openDatabase(place);
  const log = { kafka, registryUrl };
  const projectors = await createProjectors(place, { ...log, numbers: [0], database, program: programs.projector });
  const progress = followProgress({ kafka, database, projectors });
  try {
    await startReady([...delivery.instances, ...projectors.map(({ instance }) => instance)]);
    const load = { deliveriesPerSecond: DELIVERIES_PER_SECOND, subscribers, now, fix: null };
    const traffic = await startTraffic({ ...log, ...load });
    await sleep(BEFORE_MS / 2);
    const before = await rateDuring(progress.written, BEFORE_MS);
    await database.stop();
    note('  the database is stopped');
    const away = await rateDuring(progress.written, awayMs);
    await database.start();
    note(`  the database is back; ${String(away)} records/s were written to the log without it`);
    await traffic.stop();
    // What it would still have tried again is not waited for: the log must stand still to be compared.
    await Promise.all(delivery.instances.map((instance) => instance.stop()));
    const { afterMs, problems: stuck } = await drain(progress.whatIsLeft, CATCH_UP_WITHIN_MS);
    const findings = await judgeProjection({ log, database, nowMs: now(), secondReader: false });
    if (away < before * LEAST_SHARE)
      problems.push(`deliveries slowed down from ${String(before)}/s to ${String(away)}/s`);
    for (const projector of projectors) problems.push(...(await projector.unexpectedExits()));
    return {
      ...findings,
      awayMs,
      attemptsPerSecond: { before, away },
      caughtUpAfterMs: afterMs,
      problems: [...stuck, ...delivery.unexpectedExits, ...problems, ...findings.problems],
    };
  } finally {
    await progress.close();
    await stopProjectors(projectors);
    await database.close();
    await delivery.stop();
  }
}

/** Records a second over a time. */
async function rateDuring(written: () => Promise<number>, forMs: number): Promise<number> {
  const [startedAt, before] = [performance.now(), await written()];
  await sleep(forMs);
  return Math.round(((await written()) - before) / ((performance.now() - startedAt) / 1_000));
}
