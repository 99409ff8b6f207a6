/** What another webhook server did at the same work; null: not measured. */
export interface PeerFigures {
  readonly name: string;
  readonly deliveriesPerSecond: number;
  readonly latencyP50Ms: number;
  readonly latencyP99Ms: number;
  readonly fanOutPerSecond: number;
  readonly cpuSecondsPer1000: number;
  readonly deadP99RatioOnePercent: number;
  readonly retryLatenessP50Ms: number;
  readonly retryLatenessP99Ms: number | null;
  readonly answeredTwicePerKill: number | null;
  readonly againAfterKillMs: number | null;
  readonly wrongAttemptCounts: number | null;
  readonly lost: number | null;
  readonly memoryMiB: number;
}

/**
 * Medians of one to three runs each on another machine of the same size (2 cores, 24 GiB), each server in the best of the
 * configurations that were tried. They were not run again with the figures beside them.
 */
export const PEERS: readonly PeerFigures[] = [
  {
    name: 'Svix 1.100.0',
    deliveriesPerSecond: 725,
    latencyP50Ms: 6,
    latencyP99Ms: 66,
    fanOutPerSecond: 1_884,
    cpuSecondsPer1000: 2.3,
    deadP99RatioOnePercent: 5,
    retryLatenessP50Ms: 640,
    retryLatenessP99Ms: 1_140,
    answeredTwicePerKill: 16.5,
    againAfterKillMs: 45_000,
    wrongAttemptCounts: 0,
    lost: 0,
    memoryMiB: 90,
  },
  {
    name: 'Outpost 1.2.0',
    deliveriesPerSecond: 1_047,
    latencyP50Ms: 39,
    latencyP99Ms: 102,
    fanOutPerSecond: 1_238,
    cpuSecondsPer1000: 1.37,
    deadP99RatioOnePercent: 1.33,
    retryLatenessP50Ms: 29,
    retryLatenessP99Ms: 74,
    answeredTwicePerKill: 15.5,
    againAfterKillMs: 5_500,
    wrongAttemptCounts: 14,
    lost: 0,
    memoryMiB: 167,
  },
  {
    name: 'Convoy 26.3.6',
    deliveriesPerSecond: 107,
    latencyP50Ms: 1_517,
    latencyP99Ms: 2_628,
    fanOutPerSecond: 47,
    cpuSecondsPer1000: 17.2,
    deadP99RatioOnePercent: 1.06,
    retryLatenessP50Ms: 5_000,
    retryLatenessP99Ms: null,
    answeredTwicePerKill: null,
    againAfterKillMs: null,
    wrongAttemptCounts: null,
    lost: null,
    memoryMiB: 244,
  },
];
