import { createTokenBucket, type TokenBucket } from './token-bucket.js';

export interface ReplayAllowanceOptions {
  readonly ratePerSecond: number;
  /** The maximum number of unsent deliveries of the replay. */
  readonly maxUnsent: number;
  readonly unsent: () => number;
  readonly isActive: () => boolean;
  readonly monotonicMs: () => number;
}

const ROOM_POLL_MS = 50;
/** A quarter of `maxUnsent` must be free before more is written: few large transactions instead of many small ones. */
const ROOM_FRACTION = 4;

/** Limits how many deliveries a replay may write now: by its rate, its unsent deliveries, and the state of its subscription. */
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

  /** How long until the last `wanted` may be taken; 0: now. */
  waitMs(): number {
    return this.hasRoom() ? this.bucket.waitMs(Math.min(this.wanted, this.room())) : ROOM_POLL_MS;
  }

  /** Whether the replay is blocked for a while by its sender or its subscription, not just by its rate. */
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
