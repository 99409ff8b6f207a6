import type { LaneSettings } from './lane-settings.js';

/** R-22 allows this much: if a timer fires later, a paced lane loses the start. */
const MAX_LATENESS_MS = 20;
/**
 * Retries never wait for the rate. First attempts make up for them, but for no longer than this: after a limit was
 * lowered, or after a restart, hundreds of retries may be due at once.
 */
const MAX_MADE_UP_FOR_MS = 60_000;

/** Says when the next delivery of a lane may begin, by its rate and its receiver's Retry-After. Monotonic. */
export class LanePace {
  private notBeforeMs = 0;
  private nextStartMs = 0;
  private ratePerSecond: number | null = null;
  private hasWaited = false;

  beginNoneBefore(endMs: number): void {
    this.notBeforeMs = Math.max(this.notBeforeMs, endMs);
  }

  /** How long the next delivery has to wait. If 0, it begins and uses up one start of the rate. */
  waitMs({ ratePerSecond, heedsRetryAfter }: LaneSettings, atMs: number): number {
    this.follow(ratePerSecond, atMs);
    const notBeforeMs = heedsRetryAfter ? this.notBeforeMs : 0;
    const startMs = Math.max(notBeforeMs, this.nextStartMs);
    if (atMs >= startMs) {
      this.countStart(atMs);
      return 0;
    }
    this.hasWaited = startMs > notBeforeMs;
    return startMs - atMs;
  }

  /** A retry takes the place of a delivery that has not begun, so that the rate holds over time. */
  countRetry({ ratePerSecond }: LaneSettings, atMs: number): void {
    this.follow(ratePerSecond, atMs);
    if (ratePerSecond === null) return;
    const nextStartMs = Math.max(this.nextStartMs, atMs) + 1_000 / ratePerSecond;
    this.nextStartMs = Math.min(nextStartMs, atMs + MAX_MADE_UP_FOR_MS);
  }

  /** The time until a new delivery would begin at once. */
  leftMs(atMs: number): number {
    return Math.max(0, this.nextStartMs - atMs, this.notBeforeMs - atMs);
  }

  /** The owner may change the rate at any time: starts counted under the old rate delay at most one start. */
  private follow(ratePerSecond: number | null, atMs: number): void {
    if (ratePerSecond === this.ratePerSecond) return;
    this.ratePerSecond = ratePerSecond;
    this.nextStartMs = ratePerSecond === null ? 0 : Math.min(this.nextStartMs, atMs + 1_000 / ratePerSecond);
  }

  private countStart(atMs: number): void {
    if (this.ratePerSecond === null) return;
    // Timers fire slightly late: a lane that waited counts from its due time, or the rate would fall behind.
    const from = this.hasWaited ? Math.max(this.nextStartMs, atMs - MAX_LATENESS_MS) : atMs;
    this.nextStartMs = from + 1_000 / this.ratePerSecond;
    this.hasWaited = false;
  }
}
