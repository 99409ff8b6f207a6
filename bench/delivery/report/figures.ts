import { resultLine } from '../../shared/report/number-text.js';
import type { BenchResults } from '../measure-all.js';
import type { BesideRun } from '../scenarios/neighbors.js';

/** The result in single numbers; null: not measured. */
export type Figures = ReturnType<typeof figuresOf>;

export function figuresOf(results: BenchResults) {
  const { capacity, healthy, latency, fanOut, slow, dead, backlog, lateness, kill } = results;
  return {
    deliveriesPerSecond: healthy?.deliveriesPerSecond ?? null,
    latencyP50Ms: latency?.latencyMs.p50 ?? null,
    latencyP99Ms: latency?.latencyMs.p99 ?? null,
    // The worst of all that were measured.
    deadEndpointP99Ratio: worst(dead),
    retryLatenessP99Ms: lateness?.startedMs.p99 ?? null,
    lost: kill?.lost ?? null,
    // Of the worse of the kills.
    answeredTwicePerKill: kill === null ? null : Math.max(...kill.answeredTwice),
    againAfterKillMs: kill?.againAfterMs.most ?? null,
    // Answered 503 and not received exactly five times; a repeat counts as wrong.
    wrongAttemptCounts: kill?.failing.wrongCounts ?? null,
    cpuSecondsPer1000: healthy?.cpuPer1000 ?? null,
    latencyP999Ms: latency?.latencyMs.p999 ?? null,
    deadP99RatioOnePercent: worst(dead.filter(({ share }) => share === 0.01)),
    retryLatenessP50Ms: lateness?.startedMs.p50 ?? null,
    latenessAcrossKillMs: kill?.latenessAcrossMs.most ?? null,
    // Of the same deliveries, those whose attempt numbers were not 1 to 5.
    wrongAttemptNumbers: kill?.failing.wrongNumbers ?? null,
    fanOutPerSecond: fanOut?.deliveriesPerSecond ?? null,
    slowPerSecond: slow?.deliveriesPerSecond ?? null,
    backlogPerSecond: backlog?.streamingPerSecond ?? null,
    memoryMiB: healthy?.peakMiB['webhook-delivery'] ?? null,
    sinkPostsPerSecond: capacity?.postsPerSecond ?? null,
    loadEventsPerSecond: capacity?.eventsPerSecond ?? null,
    // Cores that other programs used during the maximum.
    foreignCores: healthy?.foreignCores ?? null,
  };
}

function worst(runs: readonly BesideRun[]): number | null {
  return runs.length === 0 ? null : Math.max(...runs.map(({ p99Ratio }) => p99Ratio));
}

const DECIMALS: Partial<Record<keyof Figures, number>> = {
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
  return resultLine('delivery', figuresOf(results), DECIMALS);
}
