import type { TimerPort } from '../../process/timers.js';

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

  private next() {
    return [...this.armed].sort((a, b) => a.atMs - b.atMs)[0];
  }

  private disarm(timer: object): void {
    this.armed = this.armed.filter((other) => other !== timer);
  }
}
