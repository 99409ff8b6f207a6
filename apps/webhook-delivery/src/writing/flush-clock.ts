import type { TimerPort } from '../sender/due-timers.js';

/** Something that wants to be written out. */
export interface Flushable {
  /** @returns how many records it sends */
  flush(): number;
}

/**
 * One beat for all partitions of a process, so that what they write leaves in one request. After a rest the first beat
 * comes at once; under load the next one waits a little, so that a request carries many records.
 */
export interface FlushClock {
  want(log: Flushable): void;
}

export interface FlushClockOptions {
  readonly timers: TimerPort;
  readonly now: () => number;
  readonly intervals: FlushIntervals;
}

/** Between beats. What was answered and is not yet written when the process dies is sent again. */
export interface FlushIntervals {
  readonly quietMs: number;
  /** After a beat that carried many records. */
  readonly busyMs: number;
}

const BUSY_RECORDS = 24;

export const createFlushClock = ({ timers, now, intervals }: FlushClockOptions): FlushClock => {
  const wanting = new Set<Flushable>();
  let isArmed = false;
  let nextBeatAt = 0;

  const beat = (): void => {
    isArmed = false;
    let records = 0;
    const logs = [...wanting];
    wanting.clear();
    for (const log of logs) records += log.flush();
    nextBeatAt = now() + (records >= BUSY_RECORDS ? intervals.busyMs : intervals.quietMs);
  };

  return {
    want: (log) => {
      wanting.add(log);
      if (isArmed) return;
      isArmed = true;
      timers.after(Math.max(0, nextBeatAt - now()), beat);
    },
  };
};
