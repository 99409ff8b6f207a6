import type { BenchContext } from '../bench-context.js';
import type { IsolationRow } from '../bench-flags.js';
import { HEALTHY } from '../sink/behaviors.js';
import { FLOOD_SUBSCRIPTIONS } from '../stack/subscribers.js';
import { HELD_KINDS, type HeldFleet, type HeldKind, isHeldKind, openHeldFleet } from './held-backlog.js';
import {
  type BesideRun,
  besideRun,
  besideText,
  measureAlone,
  measureBeside,
  measureBesideHeld,
  type NeighborKind,
  type OthersWindow,
  type Traffic,
} from './neighbors.js';
import { measurePunctuality, type PunctualityRun } from './punctuality.js';

const DEADLINE_SECONDS = 5;

export const KINDS: Readonly<Record<string, NeighborKind>> = {
  silent: { title: 'never answers', behavior: { type: 'silent' }, settleSeconds: DEADLINE_SECONDS },
  'status-line': {
    title: 'a status line, then nothing',
    behavior: { type: 'status_only' },
    settleSeconds: DEADLINE_SECONDS,
  },
  trickle: { title: 'a byte every 250 ms', behavior: { type: 'trickle' }, settleSeconds: DEADLINE_SECONDS },
  'tls-records': { title: 'TLS records of one byte', behavior: { type: 'one_byte_writes' }, url: 'tls' },
  'tls-close': { title: 'TLS, a new connection per attempt', behavior: { type: 'close' }, url: 'tls' },
  'long-reason': { title: 'a reason phrase of 16 KiB', behavior: { type: 'long_reason' } },
  page: { title: 'pages of 64 KiB', behavior: { type: 'page' } },
  refuse: { title: 'refuses connections', behavior: { type: 'refuse' } },
  close: { title: 'closes a kept connection as a POST comes', behavior: { type: 'close_on_reuse' } },
  reset: { title: 'resets connections', behavior: { type: 'reset' } },
  '408': { title: '408 on an idle connection', behavior: { type: 'idle_408' } },
  '503': { title: '503 at once', behavior: { type: 'answer', status: 503, delayMs: 0 } },
  late: {
    title: 'answers after 4.9 s',
    behavior: { type: 'answer', status: 200, delayMs: 4_900 },
    settleSeconds: DEADLINE_SECONDS,
  },
  dns: {
    title: 'DNS that never answers',
    behavior: { ...HEALTHY },
    url: 'dns',
    hasSilentDns: true,
    settleSeconds: DEADLINE_SECONDS,
  },
  burst: { title: 'one more fleet: 2,000 events x 40 at once', behavior: HEALTHY, flood: { atOnce: 2_000 } },
  flood: { title: 'one more fleet: 60 events/s x 40', behavior: HEALTHY, flood: { perSecond: 60 } },
  ...HELD_KINDS,
};

/** a fifth of the traffic goes to the neighbors. */
const SHARE = 0.2;
/** A load that leaves the machine time: at the maximum everything waits for the processor. */
export const EVENTS_PER_SECOND = 600;
const DRAIN_SECONDS = 300;

export interface IsolationResults {
  readonly isolation: readonly BesideRun[];
  readonly punctuality: readonly PunctualityRun[];
}

export interface IsolationPlan {
  /** Neighbors too, or only punctuality. */
  readonly hasNeighbors: boolean;
  /** Gets all results so far after each step: a run that is cut off keeps them. */
  readonly onProgress: (results: IsolationResults) => Promise<void>;
}

/** in one run. What leaves a backlog behind comes last. */
export async function measureIsolation(context: BenchContext, plan: IsolationPlan): Promise<IsolationResults> {
  const { system, flags } = context;
  const traffic = { perSecond: flags.halfRate ?? EVENTS_PER_SECOND, share: SHARE };
  const rows = plan.hasNeighbors ? flags.rows : [];
  const heldRows = (Object.keys(HELD_KINDS) as HeldKind[]).filter((kind) => rows.includes(kind));
  const [few = 0, many] = flags.waiting;
  const isolation: BesideRun[] = [];
  const punctuality: PunctualityRun[] = [];
  const keep = async (runs: readonly BesideRun[], starts: readonly PunctualityRun[] = []): Promise<void> => {
    isolation.push(...runs);
    punctuality.push(...starts);
    await plan.onProgress({ isolation, punctuality });
  };

  await system.start();
  const needsHeld = heldRows.length > 0 || many !== undefined;
  const heldBacklog = heldRows.length > 0 ? flags.heldBacklog : (many ?? 0);
  const held = needsHeld ? await openHeldFleet(context, heldBacklog) : null;
  let alone = await measureRows(
    context,
    traffic,
    rows.filter((row) => !isHeldKind(row)),
    keep,
  );
  for (const others of ['none', 'flood'] as const)
    await keep([], await measurePunctuality(context, { waiting: few, others, drainSeconds: 20 }));
  if (held !== null) {
    if (heldRows.length > 0)
      alone = [alone.at(-1) ?? (await measureAlone(context, traffic)), await measureAlone(context, traffic)];
    for (const kind of Object.keys(HELD_KINDS) as HeldKind[]) {
      if (heldRows.includes(kind)) await keep([await measureHeld(context, { traffic, kind, held, alone })]);
      if (kind !== 'parked' || many === undefined) continue;
      if (!heldRows.includes(kind)) await held.prepare(kind);
      await keep([], await measurePunctuality(context, { waiting: heldBacklog, others: 'held', drainSeconds: 0 }));
    }
    // Last: its deliveries are left behind, unless how they drain is to be shown.
    const drainSeconds = plan.hasNeighbors ? 0 : DRAIN_SECONDS;
    if (many !== undefined)
      await keep([], await measurePunctuality(context, { waiting: many, others: 'none', drainSeconds }));
  }
  return { isolation, punctuality };
}

type Keep = (runs: readonly BesideRun[]) => Promise<void>;

/** Each row between two windows alone. @returns all windows alone */
async function measureRows(
  context: BenchContext,
  traffic: Traffic,
  rows: readonly IsolationRow[],
  keep: Keep,
): Promise<OthersWindow[]> {
  const { reporter, flags } = context;
  if (rows.length === 0) return [];
  await measureAlone(context, traffic); // warms up
  const alone = [await measureAlone(context, traffic)];
  for (const [index, row] of rows.entries()) {
    const kind = kindOf(row);
    const counts = kind.flood === undefined ? flags.neighbors : [FLOOD_SUBSCRIPTIONS];
    await reporter.during(`${String(index + 1)} of ${String(rows.length)}: ${kind.title}`, async () => {
      const windows = await measureBeside(context, traffic, kind, counts);
      alone.push(...windows.splice(-1));
      const runs = windows.map((beside, at) =>
        besideRun({ ...traffic, kind: row, neighbors: counts[at] ?? 0 }, alone.slice(-2), beside),
      );
      for (const run of runs) reporter.note(`  ${String(run.neighbors)}: ${besideText(run)}`);
      await keep(runs);
    });
  }
  return alone;
}

interface HeldPlan {
  readonly traffic: Traffic;
  readonly kind: HeldKind;
  readonly held: HeldFleet;
  readonly alone: readonly OthersWindow[];
}

async function measureHeld(context: BenchContext, { traffic, kind, held, alone }: HeldPlan): Promise<BesideRun> {
  const { reporter } = context;
  await held.prepare(kind);
  return reporter.during(`Beside ${kindOf(kind).title}`, async () => {
    const beside = await measureBesideHeld(context, traffic);
    const run = besideRun({ ...traffic, kind, neighbors: FLOOD_SUBSCRIPTIONS }, alone, beside);
    reporter.note(`  ${besideText(run)}`);
    return run;
  });
}

function kindOf(row: string): NeighborKind {
  const kind = KINDS[row];
  if (kind === undefined) throw new Error(`There is no kind ${row}.`);
  return kind;
}

/** One dead endpoint beside the 100, silent and refusing, each with little and with much of the load. */
export async function measureDead(context: BenchContext, perSecond: number): Promise<BesideRun[]> {
  const { system, flags } = context;
  await system.start();
  const runs: BesideRun[] = [];
  const one = { ...context, flags: { ...flags, neighbors: [1] } };
  for (const share of flags.quick ? [0.2] : [0.01, 0.2]) {
    const rows: readonly IsolationRow[] = flags.quick ? ['silent'] : ['silent', 'refuse'];
    await measureRows(one, { perSecond, share }, rows, (found) => {
      runs.push(...found);
      return Promise.resolve();
    });
  }
  return runs;
}
