import type { OnApplicationBootstrap, OnModuleDestroy } from '@nestjs/common';
import type { DatabaseRetry } from '@waypost/database';
import { DAY_MS, HOUR_MS } from '@waypost/domain';
import type { DailyPartitions } from '@waypost/history-store';
import type { Logger } from '@waypost/platform';

const EVERY_MS = HOUR_MS;

/** Partitions are created this far ahead, so that tomorrow's is in place at midnight. */
const AHEAD_MS = 2 * DAY_MS;

export interface RetentionJobDeps {
  /** One entry per table. */
  readonly partitions: readonly DailyPartitions[];
  readonly database: DatabaseRetry;
  readonly logger: Pick<Logger, 'info' | 'error'>;
  /** Epoch milliseconds. */
  readonly nowMs: () => number;
  /** Calls again and again until cancelled through the function it returns. */
  readonly every: (ms: number, call: () => void) => () => void;
}

/** On startup and every hour, creates the partitions of the coming days and drops the expired ones. */
export class RetentionJob implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly stopping = new AbortController();
  private running: Promise<void> | null = null;
  private cancel: () => void = () => undefined;

  constructor(private readonly deps: RetentionJobDeps) {}

  onApplicationBootstrap(): void {
    const begin = (): void => {
      this.running ??= this.tidyAll();
    };
    begin();
    this.cancel = this.deps.every(EVERY_MS, begin);
  }

  async onModuleDestroy(): Promise<void> {
    this.cancel();
    this.stopping.abort();
    await this.running;
  }

  private async tidyAll(): Promise<void> {
    for (const table of this.deps.partitions) await this.tidyOrLog(table);
    this.running = null;
  }

  /** A failure is logged and retried in an hour: the projection creates the partitions that it needs itself. */
  private async tidyOrLog(table: DailyPartitions): Promise<void> {
    try {
      await this.deps.database.run(() => this.tidy(table), this.stopping.signal);
    } catch (error) {
      if (!this.stopping.signal.aborted) this.deps.logger.error('retention_failed', { error });
    }
  }

  private async tidy(table: DailyPartitions): Promise<void> {
    const nowMs = this.deps.nowMs();
    const created = await table.ensurePartitions(nowMs, nowMs + AHEAD_MS);
    const left = await table.detachExpired(nowMs);
    const waiting = left.type === 'detached' ? left.waiting : [];
    const freed = await table.dropDetached(nowMs);
    const dropped = freed.type === 'dropped' ? freed.partitions : [];
    if (created.length + dropped.length + waiting.length > 0)
      this.deps.logger.info('partitions_tidied', { created, dropped, waiting });
  }
}
