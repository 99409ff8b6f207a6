import type { TimerPort } from '../process/timers.js';

export interface Flushable {
  /** @returns the number of records it sends */
  flush(): number;
}

/**
 * Flushes all partitions of a process at the same moment, so that their records share one request to the broker (grouped
 * commits). After an idle time it flushes at once; under load it lingers, so that a request carries many records.
 */
export interface FlushScheduler {
  request(log: Flushable): void;
}

export interface FlushSchedulerOptions {
  readonly timers: TimerPort;
  readonly monotonicMs: () => number;
  readonly intervals: FlushIntervals;
}

/** The time between flushes. An answered attempt that is not written when the process dies is sent again. */
export interface FlushIntervals {
  readonly intervalMs: number;
  /** The interval after a flush of many records. */
  readonly busyIntervalMs: number;
}

const BUSY_RECORDS = 24;

export function createFlushScheduler({ timers, monotonicMs, intervals }: FlushSchedulerOptions): FlushScheduler {
  const requested = new Set<Flushable>();
  let isArmed = false;
  let nextFlushMs = -Infinity;

  const flushAll = (): void => {
    isArmed = false;
    let records = 0;
    const logs = [...requested];
    requested.clear();
    for (const log of logs) records += log.flush();
    nextFlushMs = monotonicMs() + (records >= BUSY_RECORDS ? intervals.busyIntervalMs : intervals.intervalMs);
  };

  return {
    request: (log) => {
      requested.add(log);
      if (isArmed) return;
      isArmed = true;
      timers.after(Math.max(0, nextFlushMs - monotonicMs()), flushAll);
    },
  };
}
