import { StreamsError } from '../errors.js';
import type { Cancellable, PunctuationType, Punctuator, ScheduleOptions } from '../topology/topology.js';

/** The punctuators of one task and the two clocks that move them. */
export interface Punctuators {
  readonly schedule: (options: ScheduleOptions, punctuator: Punctuator) => Cancellable;
  /** The greatest timestamp of the records so far, epoch ms; null before the first of them. */
  readonly streamTimeMs: () => number | null;
  /** Before a record is processed: stream time moves on to its timestamp, never back. */
  readonly moveStreamTime: (timestamp: number) => void;
  /** After a record was processed: calls what is due by stream time. */
  readonly punctuateStreamTime: () => void;
  /** Calls what is due by the wall clock. */
  readonly punctuateWallClock: () => void;
}

export interface PunctuatorsOptions {
  /** Stream time as it was committed with the position; null for a task that has not seen a record yet. */
  readonly streamTimeMs: number | null;
  readonly now: () => number;
}

interface Schedule {
  readonly everyMs: number;
  readonly punctuator: Punctuator;
  dueAt: number;
}

/**
 * A punctuator is called once when its time has come, however many intervals have passed since the last call.
 *
 * Stream-time punctuators are due at the multiples of their interval, and at the first record of all. The grid depends
 * on nothing but timestamps, and stream time is committed with the position: a task that was rebuilt calls them for
 * the same records as one that was not.
 */
export function createPunctuators({ streamTimeMs, now }: PunctuatorsOptions): Punctuators {
  const byStreamTime = new PunctuationQueue();
  const byWallClock = new PunctuationQueue();
  let streamTime = streamTimeMs ?? -1;
  return {
    schedule: ({ everyMs, type }, punctuator) => {
      checkInterval(everyMs, type);
      if (type === 'wall-clock') return byWallClock.add({ everyMs, punctuator, dueAt: now() + everyMs });
      const dueAt = streamTime < 0 ? 0 : nextMultiple(streamTime, everyMs);
      return byStreamTime.add({ everyMs, punctuator, dueAt });
    },
    streamTimeMs: () => (streamTime < 0 ? null : streamTime),
    moveStreamTime: (timestamp) => {
      if (timestamp > streamTime) streamTime = timestamp;
    },
    punctuateStreamTime: () => {
      if (byStreamTime.dueAt <= streamTime) byStreamTime.punctuate(streamTime);
    },
    punctuateWallClock: () => {
      const time = now();
      if (byWallClock.dueAt <= time) byWallClock.punctuate(time);
    },
  };
}

/** Schedules of one clock. Few and changed rarely, so the earliest is kept and the rest is a plain set. */
class PunctuationQueue {
  /** When the earliest is due. */
  dueAt = Infinity;
  private readonly schedules = new Set<Schedule>();

  add(schedule: Schedule): Cancellable {
    this.schedules.add(schedule);
    this.dueAt = Math.min(this.dueAt, schedule.dueAt);
    return {
      cancel: () => {
        this.schedules.delete(schedule);
        this.findEarliest();
      },
    };
  }

  /** The earliest due first; of those due at the same time, the one that was scheduled first. */
  punctuate(time: number): void {
    const due = [...this.schedules].filter(({ dueAt }) => dueAt <= time).sort((a, b) => a.dueAt - b.dueAt);
    for (const schedule of due) {
      // It may have been cancelled by a punctuator before it.
      if (!this.schedules.has(schedule)) continue;
      schedule.dueAt += (Math.floor((time - schedule.dueAt) / schedule.everyMs) + 1) * schedule.everyMs;
      schedule.punctuator(time);
    }
    this.findEarliest();
  }

  private findEarliest(): void {
    this.dueAt = Math.min(Infinity, ...Array.from(this.schedules, ({ dueAt }) => dueAt));
  }
}

function nextMultiple(time: number, everyMs: number): number {
  return (Math.floor(time / everyMs) + 1) * everyMs;
}

function checkInterval(everyMs: number, type: PunctuationType): void {
  if (Number.isSafeInteger(everyMs) && everyMs > 0) return;
  throw new StreamsError(
    'INVALID_TOPOLOGY',
    `A ${type} punctuator cannot be called every ${String(everyMs)} ms: schedule() takes a whole number of at least 1.`,
  );
}
