import type { DeliveryHistory } from '@waypost/domain';
import { createDeliveryPartitions, createFigurePartitions } from '@waypost/history-store';
import { createRandom } from '../../../tools/simulator/random.js';
import { waitedForCpuMs } from '../../shared/processes/process-usage.js';
import { type Percentiles, percentilesOf } from '../../shared/statistics.js';
import { type BenchContext, DAY_MS, dayName } from '../bench-context.js';
import type { Projected } from '../workers/projector.js';
import type { PageShape } from './page-shapes.js';

/** Pages of one kind, each of them another. */
export interface PageRun {
  readonly name: string;
  readonly ms: Percentiles;
  /** On average. */
  readonly rows: number;
  /** Of the time, the part in which the reader or its session of the server was ready to run and had no processor. */
  readonly waitedShare: number;
}

export interface PagesRun {
  /** While nothing else uses the database. */
  readonly idle: readonly PageRun[];
  /** While the projection goes on. */
  readonly pages: readonly PageRun[];
  /** Of the projection that went on meanwhile. */
  readonly projectedPerSecond: number;
}

/** A connection prepares a statement when it is first asked for a kind of page. */
const WARM_UP_PAGES = 5;
/** Others for each run: blocks that another run has just read are all in a cache. */
export const SEEDS = { alone: 11, beside: 12 } as const;
/** The name of the sessions that read pages. */
export const READER = 'bench reader';

/** Pages of every kind, one after the other; beside whatever goes on meanwhile. */
export async function measurePages(
  context: BenchContext,
  history: DeliveryHistory,
  shapes: readonly PageShape[],
  seed: number,
): Promise<PageRun[]> {
  const { flags, reporter, signal } = context;
  return reporter.during(`Reading ${String(flags.pages)} pages of ${String(shapes.length)} kinds`, async () => {
    const runs: PageRun[] = [];
    for (const shape of shapes) {
      signal.throwIfAborted();
      runs.push(await measureShape(context, history, shape, seed));
    }
    return runs;
  });
}

async function measureShape(
  { flags, dataSource, now }: BenchContext,
  history: DeliveryHistory,
  { name, query }: PageShape,
  seed: number,
): Promise<PageRun> {
  const random = createRandom(seed);
  for (let page = 0; page < WARM_UP_PAGES; page += 1) await history.findDeliveries(query(random));
  const sessions: { pid: number }[] = await dataSource.query(
    'SELECT pid FROM pg_stat_activity WHERE application_name = $1',
    [READER],
  );
  // Only one of them works at a time, and the reader waits for it: what each of them has waited adds up.
  const waitedMs = (): number =>
    [process.pid, ...sessions.map(({ pid }) => pid)].reduce((sum, pid) => sum + waitedForCpuMs(pid), 0);
  const tookMs: number[] = [];
  let rows = 0;
  const waitedBeforeMs = waitedMs();
  const beganAt = now();
  for (let page = 0; page < flags.pages; page += 1) {
    const asked = query(random);
    const startedAt = now();
    rows += (await history.findDeliveries(asked)).records.length;
    tookMs.push(now() - startedAt);
  }
  const waitedShare = (waitedMs() - waitedBeforeMs) / (now() - beganAt);
  return { name, ms: percentilesOf(tookMs), rows: rows / flags.pages, waitedShare };
}

export type Flow = Awaited<ReturnType<typeof startFlow>>;
type FlowMark = Pick<Projected, 'attempts' | 'elapsedMs'>;

const LOG = 'flow';
const FLOW_SEED = 2;
/** So many that it does not end during a measurement; so few a millisecond as in a day of 10,000 deliveries/s. */
const DELIVERIES_A_DAY = 864_000_000;
const NOTHING: FlowMark = { attempts: 0, elapsedMs: 0 };

/**
 * New attempts that are projected as fast as it can be done while something else is measured. Into a day of its own, which is new
 * at the beginning, as every day is at midnight.
 */
export async function startFlow({ dataSource, projector, calendar }: BenchContext) {
  const { toMs, flowToMs, nowMs } = calendar;
  await createDeliveryPartitions(dataSource).ensurePartitions(toMs, flowToMs - DAY_MS);
  await createFigurePartitions(dataSource).ensurePartitions(toMs, flowToMs - DAY_MS);
  await dataSource.query(`TRUNCATE deliveries_${dayName(toMs)}, delivery_figures_${dayName(toMs)}`);
  await dataSource.query('DELETE FROM projection_positions WHERE topic = $1', [LOG]);
  const window = { fromMs: toMs, toMs: flowToMs, nowMs };
  const flow = projector.project(LOG, { ...window, seed: FLOW_SEED, deliveries: DELIVERIES_A_DAY });
  let failure: unknown = null;
  flow.catch((error: unknown) => {
    failure = error;
  });
  const mark = (): FlowMark => {
    if (failure !== null) throw new Error('The projection beside the measurement has failed.', { cause: failure });
    return projector.progress() ?? NOTHING;
  };
  return {
    mark,
    /** Attempts/s since it began, or since `from`. */
    rate: (from: FlowMark = NOTHING): number => {
      const to = mark();
      return ((to.attempts - from.attempts) / Math.max(1, to.elapsedMs - from.elapsedMs)) * 1_000;
    },
    async stop() {
      await projector.stop();
      await flow;
    },
  };
}
