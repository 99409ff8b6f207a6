import { Inject, Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { DatabaseRetry } from '@waypost/database';
import { DAY_MS, HOUR_MS } from '@waypost/domain';
import type { DailyPartitions } from '@waypost/history-store';
import { CLOCK, LOGGER, type Logger } from '@waypost/platform';
import { EVERY, type Every } from './every.js';

const EVERY_MS = HOUR_MS;

/** Partitions are created this far ahead, so that tomorrow's is in place at midnight. */
const AHEAD_MS = 2 * DAY_MS;

/** `readonly DailyPartitions[]`: one entry per table. */
export const DAILY_PARTITIONS = Symbol('DAILY_PARTITIONS');

/** On startup and every hour, creates the partitions of the coming days and drops the expired ones. */
@Injectable()
export class RetentionJob implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly stopping = new AbortController();
  private running: Promise<void> | null = null;
  private cancel: () => void = () => undefined;

  constructor(
    @Inject(DAILY_PARTITIONS) private readonly tables: readonly DailyPartitions[],
    private readonly database: DatabaseRetry,
    @Inject(LOGGER) private readonly logger: Pick<Logger, 'info' | 'error'>,
    @Inject(CLOCK) private readonly nowMs: () => number,
    @Inject(EVERY) private readonly every: Every,
  ) {}

  onApplicationBootstrap(): void {
    const begin = (): void => {
      this.running ??= this.tidyAll();
    };
    begin();
    this.cancel = this.every(EVERY_MS, begin);
  }

  async onModuleDestroy(): Promise<void> {
    this.cancel();
    this.stopping.abort();
    await this.running;
  }

  private async tidyAll(): Promise<void> {
    for (const table of this.tables) await this.tidyOrLog(table);
    this.running = null;
  }

  /** A failure is logged and retried in an hour: the projection creates the partitions that it needs itself. */
  private async tidyOrLog(table: DailyPartitions): Promise<void> {
    try {
      await this.database.run(() => this.tidy(table), this.stopping.signal);
    } catch (error) {
      if (!this.stopping.signal.aborted) this.logger.error('retention_failed', { error });
    }
  }

  private async tidy(table: DailyPartitions): Promise<void> {
    const nowMs = this.nowMs();
    const created = await table.ensurePartitions(nowMs, nowMs + AHEAD_MS);
    const left = await table.detachExpired(nowMs);
    const waiting = left.type === 'detached' ? left.waiting : [];
    const freed = await table.dropDetached(nowMs);
    const dropped = freed.type === 'dropped' ? freed.partitions : [];
    if (created.length + dropped.length + waiting.length > 0)
      this.logger.info('partitions_tidied', { created, dropped, waiting });
  }
}
