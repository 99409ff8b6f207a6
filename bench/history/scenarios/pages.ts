import type { DeliveryHistory } from '@waypost/domain';
import { percentilesOf, type Percentiles } from '../../delivery/analysis/percentiles.js';
import type { BenchContext } from '../bench-context.js';
import { createRandom } from '../load/random.js';
import type { Flow } from './flow.js';
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
    rows += (await history.findDeliveries(asked)).length;
    tookMs.push(now() - startedAt);
  }
  return { name, ms: percentilesOf(tookMs), rows: rows / count };
}
