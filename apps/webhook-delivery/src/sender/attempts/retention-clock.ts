import { HOUR_MS, RETENTION_MS } from '@waypost/domain';
import type { StreamsLogger } from '@waypost/streams';
import type { Clocks } from '../../process/clocks.js';

export interface RetentionClockOptions extends Clocks {
  readonly logger: Pick<StreamsLogger, 'error'>;
}

const TOLERANCE_MS = HOUR_MS;
const LOG_DOUBT_EVERY_MS = HOUR_MS;

/**
 * Decides which deliveries are too old for the history (R-29). Two clocks have to agree, since expired deliveries are
 * never sent and this host's clock may be wrong. The brokers' clock is at least the newest append time read plus the
 * time since. There is one instance per process, so partitions share what they have read.
 */
export class RetentionClock {
  /** The brokers' clock minus the monotonic one. */
  private aheadMs = -Infinity;
  private doubtedMs = -Infinity;

  constructor(private readonly options: RetentionClockOptions) {}

  saw(appendedAt: number): void {
    this.aheadMs = Math.max(this.aheadMs, appendedAt - this.options.monotonicMs());
  }

  /** @param appendedAt by the broker: after the retention of the log, it deletes the record by this time */
  isTooOld(appendedAt: number): boolean {
    const { nowMs, monotonicMs } = this.options;
    if (nowMs() - appendedAt <= RETENTION_MS) return false;
    const atLeastMs = monotonicMs() + this.aheadMs;
    if (atLeastMs - appendedAt > RETENTION_MS - TOLERANCE_MS) return true;
    this.doubt(atLeastMs);
    return false;
  }

  private doubt(brokersAtLeast: number): void {
    const { nowMs, monotonicMs, logger } = this.options;
    if (monotonicMs() - this.doubtedMs < LOG_DOUBT_EVERY_MS) return;
    this.doubtedMs = monotonicMs();
    logger.error('clock_doubted', { now: nowMs(), brokersAtLeast });
  }
}
