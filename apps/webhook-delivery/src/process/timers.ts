/** Runs callbacks when they are due, to the millisecond, by the monotonic clock. */
export interface DueTimers {
  at(dueMs: number, run: () => void): void;
  clear(): void;
}

export interface TimerPort {
  /** @returns a function that cancels */
  after(delayMs: number, run: () => void): () => void;
}

export const nodeTimers: TimerPort = {
  after: (delayMs, run) => {
    const timer = setTimeout(run, delayMs);
    return () => {
      clearTimeout(timer);
    };
  },
};

export function createDueTimers(timers: TimerPort, monotonicMs: () => number): DueTimers {
  const cancels = new Set<() => void>();
  let isCleared = false;
  const arm = (dueMs: number, run: () => void): void => {
    // Timers take whole milliseconds and truncate the rest.
    const cancel = timers.after(Math.max(0, Math.ceil(dueMs - monotonicMs())), () => {
      cancels.delete(cancel);
      // A timer may fire slightly early, but an attempt must never start before it is due.
      if (monotonicMs() < dueMs) arm(dueMs, run);
      else run();
    });
    cancels.add(cancel);
  };
  return {
    at: (dueMs, run) => {
      if (isCleared) return;
      if (dueMs <= monotonicMs()) run();
      else arm(dueMs, run);
    },
    clear: () => {
      isCleared = true;
      for (const cancel of cancels) cancel();
      cancels.clear();
    },
  };
}
