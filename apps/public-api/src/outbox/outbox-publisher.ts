import { createOutboxTenure, createSignal, type OutboxPorts } from './outbox-tenure.js';

export interface OutboxPublisherDeps extends OutboxPorts {
  readonly monotonicMs: () => number;
  readonly pollMs?: number;
}

export abstract class OutboxPublisher {
  /** Returns at once; from then on it publishes while this process holds the right to. */
  abstract start(): void;
  /** Finishes the batch in flight. */
  abstract stop(): Promise<void>;
  abstract isStopped(): boolean;
}

const POLL_MS = 500;
const FIRST_RETRY_MS = 200;
const MAX_RETRY_MS = 5_000;

/**
 * Publishes the outbox in order. One process at a time does it: an advisory lock decides which, and the
 * transactional producer fences a predecessor that still believes it holds the lock.
 *
 * Each version is published once: after a crash or a failure between the commit to Kafka and the mark in PostgreSQL it is
 * unknown which waiting rows are published, so the topics themselves are read before going on.
 */
export function createOutboxPublisher(deps: OutboxPublisherDeps): OutboxPublisher {
  const { logger, monotonicMs, pollMs = POLL_MS } = deps;
  const signal = createSignal();
  let stopped = false;
  let running: Promise<void> | null = null;
  let retryMs = FIRST_RETRY_MS;

  const isStopped = (): boolean => stopped;
  const onPublished = (): void => {
    retryMs = FIRST_RETRY_MS;
  };
  const publishWhileHeld = createOutboxTenure({ ...deps, signal, isStopped, onPublished, pollMs });

  async function run(): Promise<void> {
    while (!isStopped()) {
      let pauseMs = pollMs;
      try {
        await publishWhileHeld();
      } catch (error) {
        pauseMs = retryMs;
        retryMs = Math.min(MAX_RETRY_MS, retryMs * 2);
        logger.warn('outbox_publishing_failed', { error, retryInMs: pauseMs });
      }
      // Not the signal: a wake-up must not turn a failing broker into a busy loop.
      await pause(pauseMs);
    }
  }

  /** Ends early only for a stop. */
  async function pause(ms: number): Promise<void> {
    const untilMs = monotonicMs() + ms;
    while (!isStopped() && monotonicMs() < untilMs) {
      signal.arm();
      await signal.wait(untilMs - monotonicMs());
    }
  }

  return {
    start() {
      running ??= run();
    },
    async stop() {
      stopped = true;
      signal.wake();
      await running;
    },
    isStopped,
  };
}
