import { Fifo } from '../../collections/fifo.js';
import type { TimerPort } from '../../process/timers.js';

export interface BusyAttempt {
  /** When it took the slot, monotonic; null: it has freed the slot. */
  readonly busySinceMs: number | null;
  answered(): void;
}

/** An attempt that has waited this long for its status line only keeps a socket open, which costs nothing. */
const SLOT_HOLD_MS = 25;

/** Frees the slots of attempts whose status line does not come. One timer serves all of them, oldest first. */
export class BusyAttempts {
  private readonly attempts: Fifo<{ readonly attempt: BusyAttempt; readonly sinceMs: number }> = new Fifo();

  constructor(
    private readonly timers: TimerPort,
    private readonly monotonicMs: () => number,
  ) {}

  add(attempt: BusyAttempt): void {
    this.attempts.push({ attempt, sinceMs: attempt.busySinceMs ?? this.monotonicMs() });
    if (this.attempts.length === 1) this.timers.after(SLOT_HOLD_MS, this.check);
  }

  private readonly check = (): void => {
    const atMs = this.monotonicMs();
    for (let next = this.attempts.peek(); next; next = this.attempts.peek()) {
      const isOver = next.attempt.busySinceMs !== next.sinceMs;
      if (!isOver && atMs - next.sinceMs < SLOT_HOLD_MS) {
        this.timers.after(Math.ceil(next.sinceMs + SLOT_HOLD_MS - atMs), this.check);
        return;
      }
      this.attempts.shift();
      if (!isOver) next.attempt.answered();
    }
  };
}
