import { type TaskManager, waitOrAbort } from '@waypost/streams';
import type { ApiLogger } from '../runtime/runtime.module.js';

export interface RetriedConsumerDeps {
  /** The name in log events. */
  readonly name: string;
  /** A member of the group; it calls `onFatal` when it cannot go on. */
  readonly createMember: (onFatal: (error: Error) => void) => TaskManager;
  readonly logger: Pick<ApiLogger, 'warn'>;
  readonly wait?: typeof waitOrAbort;
}

export interface RetriedConsumer {
  /** Returns at once; the consumer joins its group as soon as it can. */
  start(): void;
  stop(): Promise<void>;
}

const FIRST_RETRY_MS = 1_000;
const MAX_RETRY_MS = 30_000;

/**
 * Keeps a member in the group. A failure that would end the process elsewhere only creates another member here, with
 * increasing waits: an API that answers must not go down because Kafka is unavailable.
 */
export function createRetriedConsumer(deps: RetriedConsumerDeps): RetriedConsumer {
  const { name, createMember, logger, wait = waitOrAbort } = deps;
  const stopping = new AbortController();
  const stopRequested = new Promise<void>((resolve) => {
    stopping.signal.addEventListener('abort', () => {
      resolve();
    });
  });
  const isStopped = (): boolean => stopping.signal.aborted;
  let running: Promise<void> | null = null;
  let retryMs = FIRST_RETRY_MS;

  /** Resolves on a stop; rejects when the member cannot go on. */
  async function runMember(): Promise<void> {
    let fail: (error: Error) => void = () => undefined;
    const failed = new Promise<never>((_, reject) => {
      fail = reject;
    });
    const member = createMember((error) => {
      fail(error);
    });
    const started = member.start().then(() => {
      retryMs = FIRST_RETRY_MS;
      // A start in progress is not waited for when the process stops; it is undone when it ends.
      return isStopped() ? member.stop() : undefined;
    });
    try {
      await Promise.race([failed, started, stopRequested]);
      await Promise.race([failed, stopRequested]);
    } finally {
      started.catch(() => undefined);
      await member.stop().catch(() => undefined);
    }
  }

  async function run(): Promise<void> {
    while (!isStopped()) {
      try {
        await runMember();
      } catch (error) {
        if (isStopped()) return;
        logger.warn('consumer_failed', { consumer: name, error, retryInMs: retryMs });
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
