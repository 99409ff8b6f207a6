import type { DeliveryHistory } from '@waypost/domain';
import { createDeliveryPartitions } from '@waypost/history-store';
import { createRandom } from '../../../tools/simulator/random.js';
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
}

export interface PagesRun {
  readonly pages: readonly PageRun[];
  /** Of the projection that went on meanwhile. */
  readonly projectedPerSecond: number;
}

/** A connection prepares a statement when it is first asked for a kind of page. */
const WARM_UP_PAGES = 5;
const SEED = 11;

export async function measurePages(
  context: BenchContext,
  history: DeliveryHistory,
  shapes: readonly PageShape[],
  flow: Flow,
): Promise<PagesRun> {
  const { flags, reporter, signal, now } = context;
  const before = flow.mark();
  const pages = await reporter.during(
    `Reading ${String(flags.pages)} pages of ${String(shapes.length)} kinds`,
    async () => {
      const runs: PageRun[] = [];
      for (const shape of shapes) {
        signal.throwIfAborted();
        runs.push(await measureShape(history, shape, flags.pages, now));
      }
      return runs;
    },
  );
  return { pages, projectedPerSecond: flow.rate(before) };
}

async function measureShape(
  history: DeliveryHistory,
  { name, query }: PageShape,
  count: number,
  now: () => number,
): Promise<PageRun> {
  const random = createRandom(SEED);
  for (let page = 0; page < WARM_UP_PAGES; page += 1) await history.findDeliveries(query(random));
  const tookMs: number[] = [];
  let rows = 0;
  for (let page = 0; page < count; page += 1) {
    const asked = query(random);
    const startedAt = now();
    rows += (await history.findDeliveries(asked)).records.length;
    tookMs.push(now() - startedAt);
  }
  return { name, ms: percentilesOf(tookMs), rows: rows / count };
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
  await dataSource.query(`TRUNCATE deliveries_${dayName(toMs)}`);
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
