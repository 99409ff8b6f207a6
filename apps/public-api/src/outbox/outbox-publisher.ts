import type { OpenOutboxSessionResult, OutboxRow, OutboxSession, OutboxSessionOptions } from '@waypost/history-store';
import type { OutgoingRecord } from '@waypost/streams';
import type { ApiLogger } from '../dependencies.js';
import { isAlreadyPublished, type PublishedVersions } from './published-versions.js';
import { createSignal } from './signal.js';

/** The part of a transactional producer that is needed; after any failure it is closed and another made. */
export interface OutboxProducer {
  init(): Promise<void>;
  commit(transaction: { readonly records: readonly OutgoingRecord[] }): Promise<unknown>;
  close(): Promise<void>;
}

export interface OutboxPublisherDeps {
  readonly openSession: (
    options: Pick<OutboxSessionOptions, 'onAppended' | 'onLost'>,
  ) => Promise<OpenOutboxSessionResult>;
  readonly createProducer: () => OutboxProducer;
  readonly encode: (row: OutboxRow) => OutgoingRecord;
  /** Makes `encode` possible; may reject while the registry is away. */
  readonly prepare: () => Promise<void>;
  /** The newest version in the topics of each of these rows' keys. */
  readonly readPublishedVersions: (rows: readonly OutboxRow[]) => Promise<PublishedVersions>;
  readonly logger: ApiLogger;
  readonly now: () => number;
  readonly pollMs?: number;
}

export interface OutboxPublisher {
  /** Returns at once; from then on it publishes whenever this process holds the right to. */
  start(): void;
  /** Finishes the batch in flight. */
  stop(): Promise<void>;
  isStopped(): boolean;
}

const BATCH = 500;
const POLL_MS = 500;
const FIRST_RETRY_MS = 200;
const MAX_RETRY_MS = 5_000;
const KEEP_PUBLISHED_MS = 24 * 3_600_000;
const TRIM_EVERY_MS = 3_600_000;

/**
 * Publishes the outbox in order. One process at a time does it: an advisory lock says which, and the
 * transactional producer fences a predecessor that still believes it is that one.
 *
 * Each version goes out once: after a crash or a failure between the commit to Kafka and the mark in Postgres nobody
 * knows which waiting rows are out already, so before going on the topics themselves are asked.
 */
export function createOutboxPublisher(deps: OutboxPublisherDeps): OutboxPublisher {
  const { logger, now, pollMs = POLL_MS } = deps;
  const signal = createSignal();
  let stopped = false;
  let running: Promise<void> | null = null;
  let retryMs = FIRST_RETRY_MS;
  let trimAt = 0;

  async function run(): Promise<void> {
    while (!stopped) {
      let pauseMs = pollMs;
      try {
        await publishWhileHeld();
      } catch (error) {
        pauseMs = retryMs;
        retryMs = Math.min(MAX_RETRY_MS, retryMs * 2);
        logger.warn('outbox_publishing_failed', { error, retryInMs: pauseMs });
      }
      // Not the signal: a wake-up must not turn a failing broker into a busy loop.
      if (!stopped) await pause(pauseMs);
    }
  }

  /** Returns when another process holds the right, or when it is to stop; rejects when the right or the broker is lost. */
  async function publishWhileHeld(): Promise<void> {
    let lost: Error | null = null;
    const onLost = (error: Error): void => {
      lost = error;
      signal.wake();
    };
    const opened = await deps.openSession({ onAppended: signal.wake, onLost });
    if (opened.type === 'busy') return;
    logger.info('outbox_held');
    const producer = deps.createProducer();
    try {
      await deps.prepare();
      await producer.init();
      await publishAll(opened.session, producer, () => {
        if (lost !== null) throw lost;
      });
    } finally {
      await Promise.allSettled([producer.close(), opened.session.close()]);
    }
  }

  async function publishAll(session: OutboxSession, producer: OutboxProducer, check: () => void): Promise<void> {
    let caughtUp = false;
    while (!isStopped()) {
      check();
      signal.arm();
      const waiting = await session.readWaiting(BATCH);
      if (waiting.length > 0) await publish(session, producer, { waiting, uncertain: !caughtUp });
      // Rows that were there when the right was taken may be out; those that come later are surely not.
      caughtUp ||= waiting.length < BATCH;
      if (waiting.length === 0) {
        await trim(session);
        await signal.wait(pollMs);
      }
    }
  }

  async function publish(
    session: OutboxSession,
    producer: OutboxProducer,
    { waiting, uncertain }: { waiting: readonly OutboxRow[]; uncertain: boolean },
  ): Promise<void> {
    const versions: PublishedVersions = uncertain ? await deps.readPublishedVersions(waiting) : new Map();
    const due = waiting.filter((row) => !isAlreadyPublished(row, versions));
    if (due.length > 0) await producer.commit({ records: due.map(deps.encode) });
    await session.markPublished(
      waiting.map((row) => row.id),
      now(),
    );
    retryMs = FIRST_RETRY_MS;
    logger.info('outbox_published', { published: due.length, foundPublished: waiting.length - due.length });
  }

  async function trim(session: OutboxSession): Promise<void> {
    if (now() < trimAt) return;
    trimAt = now() + TRIM_EVERY_MS;
    await session.trim(now() - KEEP_PUBLISHED_MS);
  }

  /** Ends early only for a stop. */
  async function pause(ms: number): Promise<void> {
    const until = now() + ms;
    while (!isStopped() && now() < until) {
      signal.arm();
      await signal.wait(until - now());
    }
  }

  function isStopped(): boolean {
    return stopped;
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
