import { between, chance, createRandom, type Random, wholeBetween } from '../../../tools/simulator/random.js';
import { type Scheduled, shuffled } from '../shared/fault-run.js';

export interface ProjectionScheduleOptions {
  readonly seed: number;
  readonly durationMs: number;
  readonly projectors: number;
  readonly sessionTimeoutMs: number;
  /** Between two faults, on average. */
  readonly everyMs: number;
}

/** Each kind, as often as it comes before the pack is shuffled again. */
const PACK: readonly ProjectionFaultKind[] = [
  ...(['projector-kill', 'projector-pause', 'batch-end', 'network-crawl', 'rival', 'backend-kill'] as const),
  ...(['projector-kill', 'projector-pause', 'batch-end', 'database-restart', 'database-kill'] as const),
  ...(['projector-replace', 'projector-restart', 'sessions-end', 'network-cut', 'network-hole'] as const),
  ...(['broker-kill', 'broker-restart', 'broker-full', 'broker-cut', 'broker-hole', 'database-full'] as const),
];
const FIRST_AT_MS = 1_000;

/** The same options give the same schedule. Every kind comes before the pack starts again. */
export function makeProjectionSchedule(options: ProjectionScheduleOptions): Scheduled<ProjectionFault>[] {
  const random = createRandom(options.seed * 7_919 + options.projectors);
  const schedule: Scheduled<ProjectionFault>[] = [];
  let pack: ProjectionFaultKind[] = [];
  for (let atMs = FIRST_AT_MS; atMs < options.durationMs; atMs += between(random, 0.3, 1.7) * options.everyMs) {
    if (pack.length === 0) pack = shuffled(PACK, random);
    const kind = pack.pop();
    if (kind !== undefined) schedule.push({ atMs: Math.round(atMs), fault: faultOf(kind, random, options) });
  }
  return schedule;
}

function faultOf(
  kind: ProjectionFaultKind,
  random: Random,
  { projectors, sessionTimeoutMs }: ProjectionScheduleOptions,
): ProjectionFault {
  const projector = wholeBetween(random, 0, projectors - 1);
  const within = (low: number, high: number): number => Math.round(between(random, low, high));
  const beyondSession = within(sessionTimeoutMs + 500, sessionTimeoutMs + 4_000);
  switch (kind) {
    case 'projector-kill':
      return { kind, projector, downMs: chance(random, 0.6) ? within(0, 500) : beyondSession };
    case 'projector-pause':
      return { kind, projector, forMs: chance(random, 0.5) ? within(300, 3_000) : beyondSession };
    case 'projector-replace':
      return { kind, projector, forMs: within(2_000, 5_000) };
    case 'projector-restart':
      return { kind, projector, downMs: within(0, 1_000) };
    case 'rival':
      // The group takes three seconds to give it its partitions.
      return { kind, forMs: within(7_000, 12_000) };
    case 'network-cut':
    case 'broker-cut':
      return { kind, projector };
    case 'broker-hole':
      return { kind, projector, forMs: chance(random, 0.5) ? within(500, 4_000) : beyondSession };
    case 'broker-kill':
    case 'broker-full':
    case 'broker-restart':
      return { kind, downMs: within(0, 2_000) };
    case 'network-crawl':
      return { kind, projector, bytesPerSecond: within(5_000, 50_000), forMs: within(500, 3_000) };
    case 'network-hole':
      return { kind, projector, forMs: within(500, 4_000) };
    case 'database-restart':
      return { kind, downMs: within(0, 4_000) };
    case 'database-full':
      return { kind, forMs: within(1_000, 5_000) };
    case 'sessions-end':
    case 'batch-end':
    case 'database-kill':
    case 'backend-kill':
      return { kind };
  }
}

/** What can go wrong for the projection, as data: a schedule can be printed, repeated and checked. */
export type ProjectionFault =
  /** SIGKILL; another process takes its place after `downMs`. */
  | { readonly kind: 'projector-kill'; readonly projector: number; readonly downMs: number }
  /** SIGSTOP, then SIGCONT: past the session timeout it wakes up as a zombie whose partitions others have. */
  | { readonly kind: 'projector-pause'; readonly projector: number; readonly forMs: number }
  /** SIGSTOP; a second process takes the same instance id; then SIGCONT: two with one name. */
  | { readonly kind: 'projector-replace'; readonly projector: number; readonly forMs: number }
  /** SIGTERM, as in a deployment. */
  | { readonly kind: 'projector-restart'; readonly projector: number; readonly downMs: number }
  /** A projector of another group works on all partitions too. */
  | { readonly kind: 'rival'; readonly forMs: number }
  /** `pg_terminate_backend` for every session of the projectors. */
  | { readonly kind: 'sessions-end' }
  /** The same for the session that has written and not yet committed at that moment. */
  | { readonly kind: 'batch-end' }
  /** Every connection of a projector to the database is reset. */
  | { readonly kind: 'network-cut'; readonly projector: number }
  /** It gets so slow that rows are on their way when the connection is reset. */
  | {
      readonly kind: 'network-crawl';
      readonly projector: number;
      readonly bytesPerSecond: number;
      readonly forMs: number;
    }
  /** Nothing passes, and neither side is notified. */
  | { readonly kind: 'network-hole'; readonly projector: number; readonly forMs: number }
  /** Every connection of a projector to the broker is reset. */
  | { readonly kind: 'broker-cut'; readonly projector: number }
  /** Nothing passes between a projector and the broker, for up to the session timeout and some seconds. */
  | { readonly kind: 'broker-hole'; readonly projector: number; readonly forMs: number }
  /** SIGKILL or SIGTERM to the broker, or its disk is full; it is started again after `downMs`. */
  | { readonly kind: 'broker-kill' | 'broker-restart' | 'broker-full'; readonly downMs: number }
  /** Stopped as an administrator does it, and started again after `downMs`. */
  | { readonly kind: 'database-restart'; readonly downMs: number }
  /** No file of the server grows for a while, its log of changes included. */
  | { readonly kind: 'database-full'; readonly forMs: number }
  /** SIGKILL to the server. */
  | { readonly kind: 'database-kill' }
  /** SIGKILL to one process that serves a projector: the server throws all its memory away and recovers. */
  | { readonly kind: 'backend-kill' };

export type ProjectionFaultKind = ProjectionFault['kind'];

/** Faults of one target come one after another; those of different targets may overlap. */
export function targetsOf(fault: ProjectionFault): readonly string[] {
  if (fault.kind === 'rival') return ['rival'];
  // A rival lives in this process, which must not end with it.
  if ('downMs' in fault && fault.kind.startsWith('broker')) return ['broker', 'rival'];
  if (!('projector' in fault)) return ['database'];
  const [part] = fault.kind.split('-');
  return [`${part ?? ''} ${String(fault.projector)}`];
}
