import { DAY_MS, HOUR_MS } from '@waypost/domain';
import type { OutboxRow, OutboxSession } from '@waypost/management-store';
import { type OutboxPorts, type OutboxTenure, whileHeld } from './outbox-tenure.js';
import { isAlreadyPublished, type PublishedVersions } from './published-versions.js';
import { createSignal, type Signal } from './signal.js';

export interface OutboxPublisherDeps extends OutboxPorts {
  readonly monotonicMs: () => number;
  readonly pollMs?: number;
}

export interface OutboxPublisher {
  /** Returns at once; from then on it publishes while this process holds the right to. */
  start(): void;
  /** Finishes the batch in flight. */
  stop(): Promise<void>;
  isStopped(): boolean;
}

const POLL_MS = 500;
const FIRST_RETRY_MS = 200;
const MAX_RETRY_MS = 5_000;
const BATCH_SIZE = 500;
const KEEP_PUBLISHED_MS = DAY_MS;
const TRIM_EVERY_MS = HOUR_MS;

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
  const publishAll = createPublishAll({ ...deps, signal, isStopped, onPublished, pollMs });

  async function run(): Promise<void> {
    while (!isStopped()) {
      let pauseMs = pollMs;
      try {
        await whileHeld(deps, signal, publishAll);
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

interface PublishAllDeps extends OutboxPorts {
  readonly signal: Signal;
  readonly isStopped: () => boolean;
  /** A batch was published. */
  readonly onPublished: () => void;
  readonly pollMs: number;
}

/** Publishes all that is appended until a stop. Rejects when the right or the broker is lost. */
function createPublishAll(deps: PublishAllDeps): (tenure: OutboxTenure) => Promise<void> {
  const { signal, isStopped, onPublished, pollMs } = deps;
  const trim = createTrim(deps.nowMs);
  return async ({ session, producer, throwIfLost }) => {
    let caughtUp = false;
    while (!isStopped()) {
      throwIfLost();
      signal.arm();
      const waiting = await session.readWaiting(BATCH_SIZE);
      if (waiting.length > 0) {
        await publishBatch(deps, { session, producer, waiting, uncertain: !caughtUp });
        onPublished();
      }
      // Rows from before the right was taken may be in the topics; later ones cannot be.
      caughtUp ||= waiting.length < BATCH_SIZE;
      if (waiting.length === 0) {
        await trim(session);
        await signal.wait(pollMs);
      }
    }
  };
}

interface OutboxBatch extends Pick<OutboxTenure, 'session' | 'producer'> {
  /** In the order of the outbox. */
  readonly waiting: readonly OutboxRow[];
  /** Some of them may be in the topics although they are not marked: the topics are read first. */
  readonly uncertain: boolean;
}

/** Publishes a batch in one transaction and marks it. Rejects unless both are known to be done. */
async function publishBatch(ports: OutboxPorts, { session, producer, waiting, uncertain }: OutboxBatch): Promise<void> {
  const versions: PublishedVersions = uncertain ? await ports.readPublishedVersions(waiting) : new Map();
  const due = waiting.filter((row) => !isAlreadyPublished(row, versions));
  if (due.length > 0) await producer.commit({ records: due.map(ports.encode) });
  const ids = waiting.map((row) => row.id);
  await session.markPublished(ids, ports.nowMs());
  ports.logger.info('outbox_published', { published: due.length, foundPublished: waiting.length - due.length });
}

/** Deletes what was published long ago: at the first call, and then at most once an hour. */
function createTrim(nowMs: () => number): (session: Pick<OutboxSession, 'trim'>) => Promise<void> {
  let trimAtMs = 0;
  return async (session) => {
    if (nowMs() < trimAtMs) return;
    trimAtMs = nowMs() + TRIM_EVERY_MS;
    await session.trim(nowMs() - KEEP_PUBLISHED_MS);
  };
}
