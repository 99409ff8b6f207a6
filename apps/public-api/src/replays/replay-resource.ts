import { formatTime } from '@waypost/domain';
import type { StoredReplay } from '@waypost/management-store';

/** From asked for to over: `cancelling` until the replayer has heard of it. */
export const REPLAY_STATES = ['pending', 'running', 'cancelling', 'completed', 'cancelled'] as const;
export type ReplayState = (typeof REPLAY_STATES)[number];

/** A replay as the API shows it. */
export interface ReplayResource {
  readonly replayId: string;
  readonly subscriptionId: string;
  readonly series: number;
  readonly state: ReplayState;
  /** As it is used: clamped to the retention. */
  readonly startDate: string;
  readonly endDate: string;
  readonly status?: string;
  readonly eventType?: string;
  readonly deviceId?: string;
  readonly ratePerSecond: number;
  /** `matched` is absent until it is counted. */
  readonly progress: { readonly matched?: number; readonly sent: number };
  readonly createdAt: string;
  readonly startedAt?: string;
  readonly endedAt?: string;
}

export function toReplayResource(stored: StoredReplay): ReplayResource {
  const { replay, progress } = stored;
  const matched = progress?.matched ?? null;
  const state = stateOf(stored);
  const isOver = state === 'completed' || state === 'cancelled';
  return {
    replayId: replay.replayId,
    subscriptionId: replay.subscriptionId,
    series: replay.series,
    state,
    startDate: formatTime(replay.startDate),
    endDate: formatTime(replay.endDate),
    ...(replay.status === null ? {} : { status: replay.status }),
    ...(replay.eventType === null ? {} : { eventType: replay.eventType }),
    ...(replay.deviceId === null ? {} : { deviceId: replay.deviceId }),
    ratePerSecond: replay.ratePerSecond,
    progress: { ...(matched === null ? {} : { matched }), sent: progress?.sent ?? 0 },
    createdAt: formatTime(replay.createdAt),
    ...(progress === null ? {} : { startedAt: formatTime(progress.startedAt) }),
    ...(progress !== null && isOver ? { endedAt: formatTime(progress.updatedAt) } : {}),
  };
}

function stateOf({ replay, progress }: StoredReplay): ReplayState {
  if (progress?.state === 'completed' || progress?.state === 'cancelled') return progress.state;
  if (replay.cancelled) return 'cancelling';
  return progress === null ? 'pending' : 'running';
}
