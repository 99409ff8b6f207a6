import { between, chance, createRandom, wholeBetween, type Random } from '../../../../tools/simulator/random.js';
import type { ProjectionFault, ProjectionFaultKind, ScheduledProjectionFault } from './projection-fault.js';

export interface ProjectionScheduleOptions {
  readonly seed: number;
  readonly durationMs: number;
  readonly projectors: number;
  readonly sessionTimeoutMs: number;
  /** Between two faults, on average. */
  readonly everyMs: number;
}

/** Each kind, as often as it comes before the pack is shuffled anew. */
const PACK: readonly ProjectionFaultKind[] = [
  ...(['projector-kill', 'projector-pause', 'batch-end', 'network-crawl', 'rival', 'backend-kill'] as const),
  ...(['projector-kill', 'projector-pause', 'batch-end', 'database-restart', 'database-kill'] as const),
  ...(['projector-replace', 'projector-restart', 'sessions-end', 'network-cut', 'network-hole'] as const),
];
const FIRST_AT_MS = 1_000;

/** The same options give the same schedule. Every kind comes before the pack starts again. */
export function makeProjectionSchedule(options: ProjectionScheduleOptions): ScheduledProjectionFault[] {
  const random = createRandom(options.seed * 7_919 + options.projectors);
  const schedule: ScheduledProjectionFault[] = [];
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
      return { kind, projector };
    case 'network-crawl':
      return { kind, projector, bytesPerSecond: within(5_000, 50_000), forMs: within(500, 3_000) };
    case 'network-hole':
      return { kind, projector, forMs: within(500, 4_000) };
    case 'database-restart':
      return { kind, downMs: within(0, 4_000) };
    case 'sessions-end':
    case 'batch-end':
    case 'database-kill':
    case 'backend-kill':
      return { kind };
  }
}

function shuffled<T>(items: readonly T[], random: Random): T[] {
  return items
    .map((item) => ({ item, rank: random() }))
    .sort((a, b) => a.rank - b.rank)
    .map(({ item }) => item);
}
