import { Inject, Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { isConnectionLoss } from '@waypost/database';
import { LOGGER, type Logger } from '@waypost/platform';
import { EVERY, type Every } from './every.js';

const EVERY_MS = 10_000;
/** A batch has some megabytes at most, which even a bad network has sent by then. */
const STALLED_MS = 30_000;

/** Ends sessions of projectors that have waited too long for data; resolves to their number. */
export type EndStalled = (stalledForMs: number) => Promise<number>;

/** EndStalled */
export const END_STALLED = Symbol('END_STALLED');

/** Each projector watches all of them: a stopped one cannot help itself, and its successor waits for its locks. */
@Injectable()
export class StalledSessionsJob implements OnApplicationBootstrap, OnModuleDestroy {
  private running: Promise<void> | null = null;
  private cancel: () => void = () => undefined;

  constructor(
    @Inject(END_STALLED) private readonly endStalled: EndStalled,
    @Inject(LOGGER) private readonly logger: Pick<Logger, 'warn'>,
    @Inject(EVERY) private readonly every: Every,
  ) {}

  onApplicationBootstrap(): void {
    this.cancel = this.every(EVERY_MS, () => {
      this.running ??= this.look();
    });
  }

  async onModuleDestroy(): Promise<void> {
    this.cancel();
    await this.running;
  }

  private async look(): Promise<void> {
    try {
      const ended = await this.endStalled(STALLED_MS);
      if (ended > 0) this.logger.warn('stalled_sessions_ended', { ended });
    } catch (error) {
      // The projection already logs that the database is down.
      if (!isConnectionLoss(error)) this.logger.warn('stalled_sessions_unknown', { error });
    } finally {
      this.running = null;
    }
  }
}
