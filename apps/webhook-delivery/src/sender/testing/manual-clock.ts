import { flushed } from '../../../../../test/support/until.js';
import type { TimerPort } from '../../process/timers.js';

const NOT_REACHED_AFTER_MS = 60_000;

/** A monotonic clock that only the test moves, with its timers: each fires at its exact time. */
export class ManualClock implements TimerPort {
  private armed: { readonly atMs: number; readonly run: () => void }[] = [];

  constructor(public atMs = 0) {}

  readonly monotonicMs = (): number => this.atMs;

  after(delayMs: number, run: () => void): () => void {
    const timer = { atMs: this.atMs + delayMs, run };
    this.armed.push(timer);
    return () => {
      this.disarm(timer);
    };
  }

  passMs(ms: number): void {
    const endMs = this.atMs + ms;
    for (let next = this.next(); next !== undefined && next.atMs <= endMs; next = this.next()) {
      this.disarm(next);
      this.atMs = Math.max(this.atMs, next.atMs);
      next.run();
    }
    this.atMs = endMs;
  }

  /** In steps: everything that waits for a broker takes one. */
  async passUntil(isReached: () => boolean | Promise<boolean>, { stepMs }: { readonly stepMs: number }): Promise<void> {
    for (let passedMs = 0; !(await isReached()); passedMs += stepMs) {
      if (passedMs > NOT_REACHED_AFTER_MS) throw new Error('not reached');
      this.passMs(stepMs);
      await flushed();
    }
  }

  private next() {
    let next = this.armed[0];
    for (const timer of this.armed) if (next === undefined || timer.atMs < next.atMs) next = timer;
    return next;
  }

  private disarm(timer: object): void {
    this.armed = this.armed.filter((other) => other !== timer);
  }
}
