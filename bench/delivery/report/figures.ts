import type { BenchResults } from '../bench-results.js';
import type { DeadRun } from '../scenarios/dead.js';

/** The result in single numbers; null: not measured. */
export interface Figures {
  readonly deliveriesPerSecond: number | null;
  readonly latencyP50Ms: number | null;
  readonly latencyP99Ms: number | null;
  /** The worst of all that were measured. */
  readonly deadEndpointP99Ratio: number | null;
  readonly retryLatenessP99Ms: number | null;
  readonly lost: number | null;
  /** Of the worse of the kills. */
  readonly answeredTwicePerKill: number | null;
  readonly againAfterKillMs: number | null;
  /** Deliveries that were answered 503 and not received exactly five times; a repeat counts as wrong. */
  readonly wrongAttemptCounts: number | null;
  readonly cpuSecondsPer1000: number | null;
  readonly latencyP999Ms: number | null;
  readonly deadP99RatioOnePercent: number | null;
  readonly retryLatenessP50Ms: number | null;
  readonly latenessAcrossKillMs: number | null;
  /** Of the same deliveries, those whose attempt numbers were not 1 to 5. */
  readonly wrongAttemptNumbers: number | null;
  readonly fanOutPerSecond: number | null;
  readonly slowPerSecond: number | null;
  readonly backlogPerSecond: number | null;
  readonly memoryMiB: number | null;
  readonly sinkPostsPerSecond: number | null;
  readonly loadEventsPerSecond: number | null;
  /** Cores that others have used during the maximum. */
  readonly foreignCores: number | null;
}

export function figuresOf(results: BenchResults): Figures {
  const { capacity, healthy, latency, fanOut, slow, dead, backlog, lateness, kill } = results;
  return {
    deliveriesPerSecond: healthy?.deliveriesPerSecond ?? null,
    latencyP50Ms: latency?.latencyMs.p50 ?? null,
    latencyP99Ms: latency?.latencyMs.p99 ?? null,
    deadEndpointP99Ratio: worst(dead),
    retryLatenessP99Ms: lateness?.startedMs.p99 ?? null,
    lost: kill?.lost ?? null,
    answeredTwicePerKill: kill === null ? null : Math.max(...kill.answeredTwice),
    againAfterKillMs: kill?.againAfterMs.most ?? null,
    wrongAttemptCounts: kill?.failing.wrongCounts ?? null,
    cpuSecondsPer1000: healthy?.cpuPer1000 ?? null,
    latencyP999Ms: latency?.latencyMs.p999 ?? null,
    deadP99RatioOnePercent: worst(dead.filter(({ share }) => share === 0.01)),
    retryLatenessP50Ms: lateness?.startedMs.p50 ?? null,
    latenessAcrossKillMs: kill?.latenessAcrossMs.most ?? null,
    wrongAttemptNumbers: kill?.failing.wrongNumbers ?? null,
    fanOutPerSecond: fanOut?.deliveriesPerSecond ?? null,
    slowPerSecond: slow?.deliveriesPerSecond ?? null,
    backlogPerSecond: backlog?.streamingPerSecond ?? null,
    memoryMiB: healthy?.peakMiB['webhook-delivery'] ?? null,
    sinkPostsPerSecond: capacity?.postsPerSecond ?? null,
    loadEventsPerSecond: capacity?.eventsPerSecond ?? null,
    foreignCores: healthy?.foreignCores ?? null,
  };
}

function worst(runs: readonly DeadRun[]): number | null {
  return runs.length === 0 ? null : Math.max(...runs.map(({ p99Ratio }) => p99Ratio));
}

const DIGITS: Partial<Record<keyof Figures, number>> = {
  deadEndpointP99Ratio: 3,
  deadP99RatioOnePercent: 3,
  cpuSecondsPer1000: 3,
  foreignCores: 2,
  latencyP50Ms: 1,
  latencyP99Ms: 1,
  latencyP999Ms: 1,
  retryLatenessP50Ms: 1,
  retryLatenessP99Ms: 1,
};

/** The machine-readable result; null what was not measured. */
export function jsonLine(results: BenchResults): string {
  const figures = Object.entries(figuresOf(results)).map(([name, value]) => {
    const digits = DIGITS[name as keyof Figures] ?? 0;
    return [name, value === null ? null : Number((value as number).toFixed(digits))];
  });
  return JSON.stringify({ bench: 'delivery', ...Object.fromEntries(figures) });
}
