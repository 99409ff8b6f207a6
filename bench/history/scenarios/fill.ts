import { statfs } from 'node:fs/promises';
import { createProgress } from '../../../apps/cli/src/terminal/output.js';
import { readJsonFile, writeJsonFile } from '../../../tools/dev-stack/data-dir/data-dir.js';
import { StackError } from '../../../tools/dev-stack/stack-error.js';
import { treeUsage } from '../../shared/processes/process-usage.js';
import { counted } from '../../shared/report/number-text.js';
import type { BenchContext } from '../bench-context.js';
import type { LoadPlan, Projected } from '../workers/projector.js';

/** The filling of the fifteen days, and what it cost. */
export interface FillRun {
  readonly deliveries: number;
  readonly attempts: number;
  readonly attemptsPerSecond: number;
  readonly attemptsPerTransaction: number;
  /** CPU microseconds for an attempt. */
  readonly projectorCpuUs: number;
  readonly postgresCpuUs: number;
  /** Of the projector's, what making up the attempts takes. */
  readonly loadCpuUs: number;
  /** Attempts/s of the last million, with everything before them in place; of the whole when there are fewer. */
  readonly lastPerSecond: number;
}

interface Filled extends FillRun {
  readonly fromMs: number;
}

const FILLED_FILE = 'filled.json';
const SEED = 1;
const REHEARSED_DELIVERIES = 200_000;
/** Rows, indexes, write-ahead log and the day that is written meanwhile. */
const BYTES_A_DELIVERY = 2_000;
const BYTES_BESIDES = 3e9;

/** Begins with what an earlier run has kept, when it is what is asked for. */
export async function readFilled(file: (name: string) => string): Promise<Filled | null> {
  return (await readJsonFile(file(FILLED_FILE))) as Filled | null;
}

export async function fill(context: BenchContext): Promise<FillRun> {
  const { flags, stack, calendar, projector, reporter } = context;
  const kept = await readFilled(stack.file);
  if (kept?.deliveries === flags.deliveries) {
    reporter.note(`Using the ${counted(kept.deliveries)} deliveries of an earlier run.`);
    return kept;
  }
  await requireRoom(context);
  const { deliveries } = flags;
  const { fromMs, toMs, nowMs } = calendar;
  const plan = { seed: SEED, deliveries, fromMs, toMs, nowMs };
  const before = projector.usage().cpuSeconds;
  const rehearsed = await projector.rehearse({ ...plan, deliveries: Math.min(deliveries, REHEARSED_DELIVERIES) });
  const loadCpuUs = ((projector.usage().cpuSeconds - before) * 1e6) / rehearsed.attempts;
  const run = { ...(await measureFill(context, plan)), loadCpuUs };
  await writeJsonFile(stack.file(FILLED_FILE), { ...run, fromMs } satisfies Filled);
  return run;
}

async function measureFill(context: BenchContext, plan: LoadPlan): Promise<Omit<FillRun, 'loadCpuUs'>> {
  const { stack, projector, reporter, signal } = context;
  const usage = () => ({
    projector: projector.usage().cpuSeconds,
    postgres: treeUsage(stack.postgresPid()).cpuSeconds,
  });
  const before = usage();
  const samples: Projected[] = [];
  const projected = await reporter.during(`Projecting ${counted(plan.deliveries)} deliveries`, async () => {
    const bar = createProgress({ out: process.stdout, err: process.stdout }, plan.deliveries);
    const showing = setInterval(() => {
      const so = projector.progress();
      if (so === null) return;
      if (samples.at(-1)?.attempts !== so.attempts) samples.push(so);
      bar.update(so.deliveries, `${counted((so.attempts / so.elapsedMs) * 1_000)} attempts/s`);
      if (signal.aborted) void projector.stop();
    }, 500);
    try {
      return await projector.project('fill', plan);
    } finally {
      clearInterval(showing);
      bar.stop();
    }
  });
  signal.throwIfAborted();
  const after = usage();
  const { attempts, transactions, elapsedMs } = projected;
  return {
    deliveries: projected.deliveries,
    attempts,
    attemptsPerSecond: (attempts / elapsedMs) * 1_000,
    attemptsPerTransaction: attempts / transactions,
    projectorCpuUs: ((after.projector - before.projector) * 1e6) / attempts,
    postgresCpuUs: ((after.postgres - before.postgres) * 1e6) / attempts,
    lastPerSecond: rateOfLast(samples, projected),
  };
}

const LAST_ATTEMPTS = 1_000_000;

function rateOfLast(samples: readonly Projected[], end: Projected): number {
  const from = samples.findLast(({ attempts }) => attempts <= end.attempts - LAST_ATTEMPTS);
  const since = from ?? { attempts: 0, elapsedMs: 0 };
  return ((end.attempts - since.attempts) / (end.elapsedMs - since.elapsedMs)) * 1_000;
}

async function requireRoom({ flags, stack }: BenchContext): Promise<void> {
  const { bavail, bsize } = await statfs(stack.logsDir);
  const needed = flags.deliveries * BYTES_A_DELIVERY + BYTES_BESIDES;
  if (bavail * bsize >= needed) return;
  const [has, needs] = [bavail * bsize, needed].map((bytes) => `${counted(bytes / 1e9)} GB`);
  const message = `The data directory has ${String(has)} left and ${String(needs)} are needed: name another --data-dir, or fewer --deliveries.`;
  throw new StackError('data_dir_unusable', message);
}
