import { type Percentiles, percentilesOf } from '../../shared/statistics.js';
import { type Delivery, latenciesMs } from '../analysis/deliveries.js';
import type { BenchContext } from '../bench-context.js';
import { type Behaviour, HEALTHY } from '../sink/origin.js';
import { measureOthers } from './neighbours.js';

/** What 100 healthy endpoints notice of bad neighbours of one kind. */
export interface IsolationRun {
  readonly kind: string;
  readonly neighbours: number;
  /** Of the 100, while the neighbours are healthy (in the windows before and after) and while they are bad. */
  readonly aloneMs: Percentiles;
  readonly besideMs: Percentiles;
  readonly p99Ratio: number;
  /** Answered deliveries to the others within the window, beside to alone. */
  readonly rateRatio: number;
}

const KINDS: Readonly<Record<string, Behaviour>> = {
  'never answers': { type: 'silent' },
  'a status line, then nothing': { type: 'status_only' },
  'a byte every 250 ms': { type: 'trickle' },
  'a reason phrase of 16 KiB': { type: 'long_reason' },
  'refuses connections': { type: 'refuse' },
  'resets connections': { type: 'reset' },
  '503 at once': { type: 'answer', status: 503, delayMs: 0 },
  'answers after 4.9 s': { type: 'answer', status: 200, delayMs: 4_900 },
  'closes after each answer': { type: 'close_after' },
  '408 on an idle connection': { type: 'idle_408' },
  'pages of 64 KiB': { type: 'page' },
};
const QUICK_KINDS = ['never answers', 'a status line, then nothing', '503 at once'];
const FLOOD = 'one more fleet: 2,000 events x 40 at once';
const NEIGHBOURS = [1, 40, 200];
/** a fifth of the traffic goes to the neighbours. */
const SHARE = 0.2;
/** A load that leaves the machine time: at the maximum everything waits for the processor. */
const EVENTS_PER_SECOND = 360;

export async function measureIsolation(context: BenchContext): Promise<IsolationRun[]> {
  const { system, flags } = context;
  await system.start();
  const runs: IsolationRun[] = [];
  for (const neighbours of flags.quick ? [40] : NEIGHBOURS)
    runs.push(...(await measureNeighbours(context, neighbours)));
  return runs;
}

async function measureNeighbours(context: BenchContext, neighbours: number): Promise<IsolationRun[]> {
  const { flags, reporter } = context;
  const perSecond = flags.halfRate ?? EVENTS_PER_SECOND;
  const kinds = flags.quick ? QUICK_KINDS : [...Object.keys(KINDS), ...(neighbours === 1 ? [FLOOD] : [])];
  const measure = (kind: string | null): Promise<Delivery[]> => {
    const behaviour = (kind === null ? undefined : KINDS[kind]) ?? HEALTHY;
    return measureOthers(context, { ...{ neighbours, perSecond, behaviour }, share: SHARE, flood: kind === FLOOD });
  };
  const runs: IsolationRun[] = [];
  await measure(null); // warms up
  let before = await measure(null);
  for (const kind of kinds) {
    const title = `100 beside ${String(neighbours)}: ${kind}`;
    await reporter.during(title, async () => {
      const [beside, after] = [await measure(kind), await measure(null)];
      const alone = [...before, ...after];
      before = after;
      const [aloneMs, besideMs] = [percentilesOf(latenciesMs(alone)), percentilesOf(latenciesMs(beside))];
      const rateRatio = besideMs.count / beside.length / (aloneMs.count / alone.length);
      const run = { kind, neighbours, aloneMs, besideMs, p99Ratio: besideMs.p99 / aloneMs.p99, rateRatio };
      runs.push(run);
      reporter.note(`  ${title}: ${isolationText(run)}`);
    });
  }
  return runs;
}

function isolationText({ aloneMs, besideMs, p99Ratio, rateRatio }: IsolationRun): string {
  const text = ({ p50, p99 }: Percentiles): string => `p50 ${p50.toFixed(0)} p99 ${p99.toFixed(0)} ms`;
  return `the 100 ${text(aloneMs)} alone, ${text(besideMs)} beside it: p99 x ${p99Ratio.toFixed(2)}, arrived x ${rateRatio.toFixed(3)}`;
}
