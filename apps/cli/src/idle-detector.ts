import type { PartitionProgress } from '@waypost/streams';

export interface IdleDetector {
  /** Takes one look at the groups; true once every look of the past `idleMs` found nothing to do. */
  observe(nowMs: number, progress: readonly PartitionProgress[] | null): boolean;
}

/** `progress` null stands for a look that failed: it says nothing, so the waiting starts again. */
export function createIdleDetector(idleMs: number): IdleDetector {
  let idleSince: number | null = null;
  return {
    observe(nowMs, progress) {
      if (progress === null || progress.some(isBehind)) {
        idleSince = null;
        return false;
      }
      idleSince ??= nowMs;
      return nowMs - idleSince >= idleMs;
    },
  };
}

/** A group that never committed here is done when there is nothing to read, e.g. on a partition never written. */
export function lagOf({ startOffset, endOffset, committedOffset }: PartitionProgress): number {
  return Math.max(0, endOffset - (committedOffset ?? startOffset));
}

function isBehind(progress: PartitionProgress): boolean {
  return lagOf(progress) > 0;
}

/** "telemetry-processor 120, history-projector 3": what is left to do, in records and markers. */
export function describeLag(progress: readonly PartitionProgress[]): string {
  const lags = new Map<string, number>();
  for (const one of progress) lags.set(one.groupId, (lags.get(one.groupId) ?? 0) + lagOf(one));
  const behind = [...lags].filter(([, lag]) => lag > 0).map(([group, lag]) => `${group} ${String(lag)}`);
  return behind.length === 0 ? 'nothing' : behind.join(', ');
}
