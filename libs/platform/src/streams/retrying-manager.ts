import type { TaskCommand, TaskManager, TaskStatus, TopicPartition } from '@waypost/streams';
import type { Logger } from '../logging/logger.js';

export interface RetryingManagerOptions {
  readonly groupId: string;
  /** Creates a member of the group, which reports when it cannot continue. */
  readonly createManager: (onFatal: (error: Error) => void) => TaskManager;
  readonly logger: Pick<Logger, 'warn'>;
  /** Resolves after the time or when the signal is aborted, whichever comes first. */
  readonly wait: (ms: number, signal: AbortSignal) => Promise<void>;
}

const FIRST_RETRY_MS = 1_000;
const MAX_RETRY_MS = 30_000;

/**
 * Keeps a member of the group running. Elsewhere a consumer that fails ends the process; here it is replaced after a
 * growing delay: an API must not go down because Kafka is down. Its start returns at once.
 */
export class RetryingManager implements TaskManager {
  private readonly stopping = new AbortController();
  private readonly stopRequested: Promise<void>;
  private running: Promise<void> | null = null;
  private member: TaskManager | null = null;
  private retryMs = FIRST_RETRY_MS;

  constructor(private readonly options: RetryingManagerOptions) {
    this.stopRequested = new Promise((resolve) => this.stopping.signal.addEventListener('abort', () => resolve()));
  }

  start(): Promise<void> {
    this.running ??= this.run();
    return Promise.resolve();
  }

  async stop(): Promise<void> {
    this.stopping.abort();
    await this.running;
  }

  ready(): boolean {
    return this.member?.ready() === true;
  }

  tasks(): readonly TaskStatus[] {
    return this.member?.tasks() ?? [];
  }

  command(partition: TopicPartition, command: TaskCommand): string | null | undefined {
    return this.member?.command(partition, command);
  }

  private isStopped(): boolean {
    return this.stopping.signal.aborted;
  }

  private async run(): Promise<void> {
    const { groupId, logger, wait } = this.options;
    while (!this.isStopped()) {
      try {
        await this.runMember();
      } catch (error) {
        if (this.isStopped()) return;
        logger.warn('consumer_failed', { groupId, error, retryInMs: this.retryMs });
        await wait(this.retryMs, this.stopping.signal);
        this.retryMs = Math.min(MAX_RETRY_MS, 2 * this.retryMs);
      }
    }
  }

  /** Resolves when the consumer must stop; rejects when its member cannot continue. */
  private async runMember(): Promise<void> {
    let fail: (error: Error) => void = () => undefined;
    const failed = new Promise<never>((_, reject) => {
      fail = reject;
    });
    const manager = this.options.createManager((error) => fail(error));
    this.member = manager;
    const started = manager.start().then(() => {
      this.retryMs = FIRST_RETRY_MS;
      // The stop does not wait for a start in progress, which is undone when it ends.
      return this.isStopped() ? manager.stop() : undefined;
    });
    try {
      await Promise.race([failed, started, this.stopRequested]);
      await Promise.race([failed, this.stopRequested]);
    } finally {
      started.catch(() => undefined);
      await manager.stop().catch(() => undefined);
    }
  }
}
