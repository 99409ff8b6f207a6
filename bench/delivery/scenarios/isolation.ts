import type { BenchContext } from '../bench-context.js';
import type { IsolationRow } from '../bench-flags.js';
import { HEALTHY } from '../sink/origin.js';
import { FLOOD_SUBSCRIPTIONS } from '../stack/subscribers.js';
import { fillHeldFleet, HELD_KINDS, isHeldKind, truncateDeliveries } from './held-backlog.js';
import {
  type BesideRun,
  besideRun,
  besideText,
  measureAlone,
  measureBeside,
  type NeighbourKind,
  type NeighbourPlan,
  type OthersWindow,
} from './neighbours.js';

export const KINDS: Readonly<Record<string, NeighbourKind>> = {
  silent: { title: 'never answers', behaviour: { type: 'silent' } },
  'status-line': { title: 'a status line, then nothing', behaviour: { type: 'status_only' } },
  trickle: { title: 'a byte every 250 ms', behaviour: { type: 'trickle' } },
  'long-reason': { title: 'a reason phrase of 16 KiB', behaviour: { type: 'long_reason' } },
  'tls-records': { title: 'TLS records of one byte', behaviour: { type: 'one_byte_writes' }, url: 'tls' },
  refuse: { title: 'refuses connections', behaviour: { type: 'refuse' } },
  reset: { title: 'resets connections', behaviour: { type: 'reset' } },
  '503': { title: '503 at once', behaviour: { type: 'answer', status: 503, delayMs: 0 } },
  late: { title: 'answers after 4.9 s', behaviour: { type: 'answer', status: 200, delayMs: 4_900 } },
  close: { title: 'closes after each answer', behaviour: { type: 'close_after' } },
  '408': { title: '408 on an idle connection', behaviour: { type: 'idle_408' } },
  page: { title: 'pages of 64 KiB', behaviour: { type: 'page' } },
  dns: { title: 'DNS that never answers', behaviour: HEALTHY, url: 'dns', hasSilentDns: true },
  flood: { title: 'one more fleet: 2,000 events x 40 at once', behaviour: HEALTHY, hasFlood: true },
  ...HELD_KINDS,
};

/** a fifth of the traffic goes to the neighbours. */
const SHARE = 0.2;
/** A load that leaves the machine time: at the maximum everything waits for the processor. */
const EVENTS_PER_SECOND = 360;

export async function measureIsolation(context: BenchContext): Promise<BesideRun[]> {
  const { system, flags } = context;
  const perSecond = flags.halfRate ?? EVENTS_PER_SECOND;
  await system.start();
  const runs: BesideRun[] = [];
  for (const neighbours of flags.neighbours) {
    const rows = flags.rows.filter(
      (row) => !isHeldKind(row) && (row !== 'flood' || neighbours === flags.neighbours[0]),
    );
    runs.push(...(await measureRows(context, rows, { neighbours, perSecond, share: SHARE })));
  }
  const held = flags.rows.filter(isHeldKind);
  if (held.length > 0) runs.push(...(await measureHeld(context, held, perSecond)));
  return runs;
}

/** Each row between two windows alone. */
async function measureRows(
  context: BenchContext,
  rows: readonly IsolationRow[],
  plan: NeighbourPlan & { readonly neighbours: number },
): Promise<BesideRun[]> {
  if (rows.length === 0) return [];
  const { reporter } = context;
  const runs: BesideRun[] = [];
  await measureAlone(context, plan); // warms up
  let before = await measureAlone(context, plan);
  for (const [index, row] of rows.entries()) {
    const kind = kindOf(row);
    const title = `100 beside ${String(plan.neighbours)}, ${String(index + 1)} of ${String(rows.length)}: ${kind.title}`;
    await reporter.during(title, async () => {
      const beside = await measureBeside(context, plan, kind);
      const after = await measureAlone(context, plan);
      const run = besideRun({ ...plan, kind: row }, [before, after], beside);
      before = after;
      runs.push(run);
      reporter.note(`  ${besideText(run)}`);
    });
  }
  return runs;
}

/** One backlog that is parked, then suspended, then paused; windows alone before it and after its end. */
async function measureHeld(
  context: BenchContext,
  rows: readonly IsolationRow[],
  perSecond: number,
): Promise<BesideRun[]> {
  const { reporter } = context;
  const alonePlan = { neighbours: FLOOD_SUBSCRIPTIONS, perSecond, share: SHARE };
  await measureAlone(context, alonePlan);
  const alone = [await measureAlone(context, alonePlan)];
  const found: { readonly row: IsolationRow; readonly beside: OthersWindow }[] = [];
  const steps = await fillHeldFleet(context);
  for (const [row, prepare] of steps) {
    if (!rows.includes(row)) continue;
    await reporter.during(`100 beside ${kindOf(row).title}`, async () => {
      await prepare();
      const beside = await measureBeside(context, { neighbours: 'held', perSecond, share: SHARE }, kindOf(row));
      found.push({ row, beside });
    });
  }
  await truncateDeliveries(context);
  alone.push(await measureAlone(context, alonePlan));
  return found.map(({ row, beside }) => {
    const run = besideRun({ ...alonePlan, kind: row }, alone, beside);
    reporter.note(`  ${kindOf(row).title}: ${besideText(run)}`);
    return run;
  });
}

function kindOf(row: IsolationRow): NeighbourKind {
  const kind = KINDS[row];
  if (kind === undefined) throw new Error(`There is no kind ${row}.`);
  return kind;
}

/** One dead endpoint beside the 100, silent and refusing, each with little and with much of the load. */
export async function measureDead(context: BenchContext, perSecond: number): Promise<BesideRun[]> {
  await context.system.start();
  const runs: BesideRun[] = [];
  for (const share of context.flags.quick ? [0.2] : [0.01, 0.2]) {
    const rows = context.flags.quick ? (['silent'] as const) : (['silent', 'refuse'] as const);
    runs.push(...(await measureRows(context, rows, { neighbours: 1, share, perSecond })));
  }
  return runs;
}
