import { setTimeout as sleep } from 'node:timers/promises';
import type { DataDir, Guardian } from '../../../tools/dev-stack/index.js';
import { openDeliveryStage, PARTITIONS } from '../delivery/stage.js';
import { startTraffic } from '../delivery/traffic.js';
import { startReady } from '../shared/app-instance.js';
import { openDatabase } from './database.js';
import { type Findings, judgeProjection } from './judge.js';
import { followProgress } from './progress.js';
import { createProjectors } from './stage.js';

export interface OutageRunOptions {
  readonly dataDir: DataDir;
  readonly guardian: Guardian;
  readonly registryUrl: (brokers: readonly string[]) => Promise<string>;
  /** Built main files. */
  readonly programs: { readonly sender: string; readonly projector: string };
  /** Of a user's shell. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** For how long the database is away. */
  readonly awayMs: number;
  readonly now: () => number;
  readonly note: (line: string) => void;
}

export interface OutageRunResult extends Findings {
  readonly awayMs: number;
  /** Offsets that the log of attempts grew by in a second, while the database was there and while it was away. */
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
export async function outageRun(options: OutageRunOptions): Promise<OutageRunResult> {
  const { dataDir, guardian, programs, env, awayMs, now, note } = options;
  const problems: string[] = [];
  const delivery = await openDeliveryStage({ ...options, instances: 1, program: programs.sender });
  const { kafka, registryUrl, subscribers } = delivery;
  const database = await openDatabase({ folder: dataDir.path, guardian, env });
  const projectors = await createProjectors({
    ...{ count: 1, kafka, registryUrl, database, dataDir, guardian, program: programs.projector, env },
  });
  const progress = followProgress({ kafka, partitions: PARTITIONS, database, projectors });
  try {
    await startReady([...delivery.instances, ...projectors.map(({ instance }) => instance)]);
    const load = { deliveriesPerSecond: DELIVERIES_PER_SECOND, subscribers, now };
    const traffic = await startTraffic({ kafka, registryUrl, ...load });
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
    const { afterMs, problems: stuck } = await progress.caughtUp(CATCH_UP_WITHIN_MS);
    const findings = await judgeProjection({
      kafka,
      registryUrl,
      partitions: PARTITIONS,
      database,
      now,
      secondReader: false,
    });
    if (away < before * LEAST_SHARE)
      problems.push(`deliveries slowed down from ${String(before)}/s to ${String(away)}/s`);
    for (const projector of projectors) problems.push(...(await projector.unexpectedExits()));
    return {
      ...findings,
      ...{ awayMs, attemptsPerSecond: { before, away }, caughtUpAfterMs: afterMs },
      problems: [...stuck, ...delivery.unexpectedExits, ...problems, ...findings.problems],
    };
  } finally {
    await progress.close();
    await Promise.all(projectors.map(({ instance }) => instance.kill()));
    await Promise.all(projectors.map(({ link }) => link.close()));
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
