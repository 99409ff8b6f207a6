import type { OutboxSession } from '@waypost/management-store';
import type { OutboxPorts, OutboxProducer } from './outbox-ports.js';
import { createOutboxTrim } from './outbox-trim.js';
import { publishBatch } from './publish-batch.js';
import type { Signal } from './signal.js';

export interface OutboxTenureDeps extends OutboxPorts {
  /** Woken at every append, and when the right is lost. */
  readonly signal: Signal;
  readonly isStopped: () => boolean;
  /** A batch went through. */
  readonly onPublished: () => void;
  readonly pollMs: number;
}

const BATCH = 500;

/**
 * The time in which this process holds the right to publish. The function returns when another process holds it, or
 * when it is to stop; it rejects when the right or the broker is lost.
 */
export function createOutboxTenure(deps: OutboxTenureDeps): () => Promise<void> {
  const { signal, isStopped, onPublished, pollMs } = deps;
  const trim = createOutboxTrim(deps.now);

  async function publishAll(session: OutboxSession, producer: OutboxProducer, check: () => void): Promise<void> {
    let caughtUp = false;
    while (!isStopped()) {
      check();
      signal.arm();
      const waiting = await session.readWaiting(BATCH);
      if (waiting.length > 0) {
        await publishBatch(deps, { session, producer, waiting, uncertain: !caughtUp });
        onPublished();
      }
      // Rows that were there when the right was taken may be out; those that come later are surely not.
      caughtUp ||= waiting.length < BATCH;
      if (waiting.length === 0) {
        await trim(session);
        await signal.wait(pollMs);
      }
    }
  }

  return async () => {
    let lost: Error | null = null;
    const onLost = (error: Error): void => {
      lost = error;
      signal.wake();
    };
    const onAppended = (): void => {
      signal.wake();
    };
    const opened = await deps.openSession({ onAppended, onLost });
    if (opened.type === 'busy') return;
    deps.logger.info('outbox_held');
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
  };
}
