/** Runs callbacks at their due time, to the millisecond. */
export interface DueTimers {
  at(dueAt: number, run: () => void): void;
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

export function createDueTimers(timers: TimerPort, now: () => number): DueTimers {
  const cancels = new Set<() => void>();
  let isCleared = false;
  const arm = (dueAt: number, run: () => void): void => {
    const cancel = timers.after(Math.max(0, dueAt - now()), () => {
      cancels.delete(cancel);
      // A timer may fire a fraction early; an attempt never starts before it is due.
      if (now() < dueAt) arm(dueAt, run);
      else run();
    });
    cancels.add(cancel);
  };
  return {
    at: (dueAt, run) => {
      if (isCleared) return;
      if (dueAt <= now()) run();
      else arm(dueAt, run);
    },
    clear: () => {
      isCleared = true;
      for (const cancel of cancels) cancel();
      cancels.clear();
    },
  };
}
