import { createTokenBucket, type TokenBucket } from './token-bucket.js';

export interface ReplayAllowanceOptions {
  readonly ratePerSecond: number;
  /** The most deliveries of the replay that may be written and not yet sent. */
  readonly maxUnsent: number;
  readonly unsent: () => number;
  readonly isActive: () => boolean;
  readonly monotonicMs: () => number;
}

const ROOM_POLL_MS = 50;
/** A quarter of `maxUnsent` must be free before more is written: few large transactions instead of many small ones. */
const ROOM_FRACTION = 4;

/** How many deliveries a replay may write now: by its rate, by what its sender has not sent yet, and by its subscription. */
export class ReplayAllowance {
  private readonly bucket: TokenBucket;
  private wanted = 1;

  constructor(private readonly options: ReplayAllowanceOptions) {
    this.bucket = createTokenBucket(options.ratePerSecond, options.monotonicMs);
  }

  /** @returns how many of `wanted` may be written; 0: none yet */
  take(wanted: number): number {
    this.wanted = wanted;
    return this.hasRoom() ? this.bucket.take(Math.min(wanted, this.room())) : 0;
  }

  giveBack(count: number): void {
    this.bucket.giveBack(count);
  }

  /** When to try again to take what was last wanted; 0: now. */
  waitMs(): number {
    return this.hasRoom() ? this.bucket.waitMs(Math.min(this.wanted, this.room())) : ROOM_POLL_MS;
  }

  /** It can write nothing for a while: not by its rate, but for its sender or its subscription. */
  isBlocked(): boolean {
    return !this.hasRoom();
  }

  private hasRoom(): boolean {
    const { isActive, maxUnsent } = this.options;
    return isActive() && this.room() >= Math.min(this.wanted, maxUnsent / ROOM_FRACTION);
  }

  private room(): number {
    return this.options.maxUnsent - this.options.unsent();
  }
}
