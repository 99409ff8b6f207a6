import type { OnApplicationBootstrap, OnModuleDestroy } from '@nestjs/common';
import { isConnectionLoss } from '@waypost/database';
import type { Logger } from '@waypost/platform';

const EVERY_MS = 10_000;
/** A batch has some megabytes at most, which even a bad network has sent by then. */
const STALLED_MS = 30_000;

export interface StalledSessionsJobDeps {
  /** Ends sessions of projectors that have waited too long for data; resolves to their number. */
  readonly endStalled: (stalledForMs: number) => Promise<number>;
  readonly logger: Pick<Logger, 'warn'>;
  /** Calls repeatedly until cancelled through the function it returns. */
  readonly every: (ms: number, call: () => void) => () => void;
}

/** Each projector watches all of them: a stopped one cannot help itself, and its successor waits for its locks. */
export class StalledSessionsJob implements OnApplicationBootstrap, OnModuleDestroy {
  private running: Promise<void> | null = null;
  private cancel: () => void = () => undefined;

  constructor(private readonly deps: StalledSessionsJobDeps) {}

  onApplicationBootstrap(): void {
    this.cancel = this.deps.every(EVERY_MS, () => {
      this.running ??= this.look();
    });
  }

  async onModuleDestroy(): Promise<void> {
    this.cancel();
    await this.running;
  }

  private async look(): Promise<void> {
    const { endStalled, logger } = this.deps;
    try {
      const ended = await endStalled(STALLED_MS);
      if (ended > 0) logger.warn('stalled_sessions_ended', { ended });
    } catch (error) {
      // The projection already logs that the database is down.
      if (!isConnectionLoss(error)) logger.warn('stalled_sessions_unknown', { error });
    } finally {
      this.running = null;
    }
  }
}
