import { Inject, Injectable } from '@nestjs/common';
import { MONOTONIC_CLOCK } from '@waypost/platform';

/** Half of what R-22 allows: above it, other work gives way. */
const LATE_MS = 10;
const MIN_SHARE = 1 / 8;
/** A late retry also reflects the load from before the last change, so changes are at least this far apart. */
const MIN_CHANGE_INTERVAL_MS = 100;
const REGAINED_PER_SECOND = 1 / 4;

/**
 * Limits how much of the event loop goes to work that can wait in the log (first attempts and fan-out), so that retries
 * start on time. A late retry halves the share, and punctual ones let it grow back slowly. It helps on a busy
 * machine too: the OS schedules a process sooner that uses less CPU.
 */
@Injectable()
export class Headroom {
  private shareThen = 1;
  private changedMs = -Infinity;

  constructor(@Inject(MONOTONIC_CLOCK) private readonly monotonicMs: () => number) {}

  retryStarted(latenessMs: number): void {
    if (latenessMs <= LATE_MS) return;
    const atMs = this.monotonicMs();
    if (atMs - this.changedMs < MIN_CHANGE_INTERVAL_MS) return;
    this.shareThen = Math.max(MIN_SHARE, this.share() / 2);
    this.changedMs = atMs;
  }

  /** In (0, 1]. */
  share(): number {
    if (this.shareThen === 1) return 1;
    const seconds = (this.monotonicMs() - this.changedMs) / 1_000;
    return Math.min(1, this.shareThen + seconds * REGAINED_PER_SECOND);
  }
}

/** Timers are only precise to about a millisecond: shorter rests add up until one is worth a timer. */
const MIN_REST_MS = 4;
/** A piece of work takes a few milliseconds: a longer one was paused with its process, and a pause earns no rest. */
const MAX_PIECE_MS = 50;

/** Rests after deferrable work so that it takes no more than its share of the time. */
export class PacedWork {
  private restUntilMs = -Infinity;

  constructor(
    private readonly monotonicMs: () => number,
    private readonly share: () => number,
  ) {}

  /** How long to wait before the next piece of work; 0: not at all. */
  restMs(): number {
    const restMs = this.restUntilMs - this.monotonicMs();
    return restMs >= MIN_REST_MS ? restMs : 0;
  }

  /** @throws what `work` throws */
  run(work: () => void): void {
    const fromMs = this.monotonicMs();
    work();
    const endMs = this.monotonicMs();
    const workedMs = Math.min(endMs - fromMs, MAX_PIECE_MS);
    this.restUntilMs = Math.max(this.restUntilMs, endMs) + workedMs * (1 / this.share() - 1);
  }
}
