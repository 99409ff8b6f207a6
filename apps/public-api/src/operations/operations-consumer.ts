import type { TaskManager } from '@waypost/streams';
import type { ApiLogger } from '../dependencies.js';

export interface OperationsConsumerDeps {
  /** A member of the group; it tells when it cannot go on. */
  readonly createRunner: (onFatal: (error: Error) => void) => TaskManager;
  readonly logger: Pick<ApiLogger, 'warn'>;
  /** Resolves after the time or when the signal is aborted, whichever is first. */
  readonly wait: (ms: number, signal: AbortSignal) => Promise<void>;
}

export interface OperationsConsumer {
  /** Returns at once; the consumer joins its group as soon as it can. */
  start(): void;
  stop(): Promise<void>;
}

const FIRST_RETRY_MS = 1_000;
const MAX_RETRY_MS = 30_000;

/**
 * Keeps a member of the group at work. What ends a consumer elsewhere ends the process; here it is only begun again,
 * later and later: an API that answers must not go down because Kafka is away.
 */
export function createOperationsConsumer({ createRunner, logger, wait }: OperationsConsumerDeps): OperationsConsumer {
  const stopping = new AbortController();
  const stopRequested = new Promise<void>((resolve) => {
    stopping.signal.addEventListener('abort', () => {
      resolve();
    });
  });
  const isStopped = (): boolean => stopping.signal.aborted;
  let running: Promise<void> | null = null;
  let retryMs = FIRST_RETRY_MS;

  /** Resolves when the consumer is told to stop; rejects when its member cannot go on. */
  async function runMember(): Promise<void> {
    let fail: (error: Error) => void = () => undefined;
    const failed = new Promise<never>((_, reject) => {
      fail = reject;
    });
    const runner = createRunner((error) => {
      fail(error);
    });
    const started = runner.start().then(() => {
      retryMs = FIRST_RETRY_MS;
      // A start that was on its way is not waited for when the process stops; it is undone when it ends.
      return isStopped() ? runner.stop() : undefined;
    });
    try {
      await Promise.race([failed, started, stopRequested]);
      await Promise.race([failed, stopRequested]);
    } finally {
      started.catch(() => undefined);
      await runner.stop().catch(() => undefined);
    }
  }

  async function run(): Promise<void> {
    while (!isStopped()) {
      try {
        await runMember();
      } catch (error) {
        if (isStopped()) return;
        logger.warn('operations_consumer_failed', { error, retryInMs: retryMs });
        await wait(retryMs, stopping.signal);
        retryMs = Math.min(MAX_RETRY_MS, 2 * retryMs);
      }
    }
  }

  return {
    start() {
      running ??= run();
    },
    async stop() {
      stopping.abort();
      await running;
    },
  };
}
