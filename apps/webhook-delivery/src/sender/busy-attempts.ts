import { Fifo } from '../common/fifo.js';
import type { TimerPort } from '../common/timers.js';

/** An attempt in its slot. */
export interface BusyAttempt {
  /** When it took the slot; null: it has freed it. */
  readonly busySince: number | null;
  /** Frees the slot. */
  answered(): void;
}

/** An attempt that has waited this long for its status line only keeps a socket open, which costs nothing. */
const SLOT_HOLD_MS = 25;

/** Frees the slots of attempts whose status line does not come. One timer serves all of them, oldest first. */
export class BusyAttempts {
  private readonly attempts: Fifo<{ readonly attempt: BusyAttempt; readonly since: number }> = new Fifo();

  constructor(
    private readonly timers: TimerPort,
    private readonly now: () => number,
  ) {}

  add(attempt: BusyAttempt): void {
    this.attempts.push({ attempt, since: attempt.busySince ?? this.now() });
    if (this.attempts.length === 1) this.timers.after(SLOT_HOLD_MS, this.check);
  }

  private readonly check = (): void => {
    const at = this.now();
    for (let next = this.attempts.peek(); next; next = this.attempts.peek()) {
      const isOver = next.attempt.busySince !== next.since;
      if (!isOver && at - next.since < SLOT_HOLD_MS) {
        this.timers.after(Math.ceil(next.since + SLOT_HOLD_MS - at), this.check);
        return;
      }
      this.attempts.shift();
      if (!isOver) next.attempt.answered();
    }
  };
}
