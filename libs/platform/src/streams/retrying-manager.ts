import type { TaskManager } from '@waypost/streams';
import type { Logger } from '../logging/logger.js';

export interface RetryingManagerOptions {
  readonly groupId: string;
  /** A member of the group; it reports when it cannot go on. */
  readonly createManager: (onFatal: (error: Error) => void) => TaskManager;
  readonly logger: Pick<Logger, 'warn'>;
  /** Resolves after the time or when the signal is aborted, whichever is first. */
  readonly wait: (ms: number, signal: AbortSignal) => Promise<void>;
}

const FIRST_RETRY_MS = 1_000;
const MAX_RETRY_MS = 30_000;

/**
 * Keeps a member of the group at work. What ends a consumer elsewhere ends the process; here it is only replaced, later
 * and later: an API that responds must not go down because Kafka is away. Its start returns at once.
 */
export function createRetryingManager({ groupId, createManager, logger, wait }: RetryingManagerOptions): TaskManager {
  const stopping = new AbortController();
  const stopRequested = new Promise<void>((resolve) => {
    stopping.signal.addEventListener('abort', () => {
      resolve();
    });
  });
  const isStopped = (): boolean => stopping.signal.aborted;
  let running: Promise<void> | null = null;
  let member: TaskManager | null = null;
  let retryMs = FIRST_RETRY_MS;

  /** Resolves when the consumer must stop; rejects when its member cannot go on. */
  async function runMember(): Promise<void> {
    let fail: (error: Error) => void = () => undefined;
    const failed = new Promise<never>((_, reject) => {
      fail = reject;
    });
    const manager = createManager((error) => {
      fail(error);
    });
    member = manager;
    const started = manager.start().then(() => {
      retryMs = FIRST_RETRY_MS;
      // A start that was on its way is not waited for when the process stops; it is undone when it ends.
      return isStopped() ? manager.stop() : undefined;
    });
    try {
      await Promise.race([failed, started, stopRequested]);
      await Promise.race([failed, stopRequested]);
    } finally {
      started.catch(() => undefined);
      await manager.stop().catch(() => undefined);
    }
  }

  async function run(): Promise<void> {
    while (!isStopped()) {
      try {
        await runMember();
      } catch (error) {
        if (isStopped()) return;
        logger.warn('consumer_failed', { groupId, error, retryInMs: retryMs });
        await wait(retryMs, stopping.signal);
        retryMs = Math.min(MAX_RETRY_MS, 2 * retryMs);
      }
    }
  }

  return {
    start() {
      running ??= run();
      return Promise.resolve();
    },
    async stop() {
      stopping.abort();
      await running;
    },
    ready: () => member?.ready() === true,
  };
}
