import type {
  OpenOutboxSessionResult,
  OutboxRow,
  OutboxSession,
  OutboxSessionOptions,
} from '@waypost/management-store';
import type { OutgoingRecord, StreamsLogger } from '@waypost/streams';
import type { PublishedVersions } from './published-versions.js';
import type { Signal } from './signal.js';

/** The part of a transactional producer that is needed; after any failure it is closed and another made. */
interface OutboxProducer {
  init(): Promise<void>;
  commit(transaction: { readonly records: readonly OutgoingRecord[] }): Promise<unknown>;
  close(): Promise<void>;
}

/** The table, the topics and the clock. */
export interface OutboxPorts {
  readonly openSession: (
    options: Pick<OutboxSessionOptions, 'onAppended' | 'onLost'>,
  ) => Promise<OpenOutboxSessionResult>;
  readonly createProducer: () => OutboxProducer;
  readonly encode: (row: OutboxRow) => OutgoingRecord;
  /** Makes `encode` possible; may reject while the registry is unavailable. */
  readonly prepare: () => Promise<void>;
  /** The newest version in the topics of each of these rows' keys. */
  readonly readPublishedVersions: (rows: readonly OutboxRow[]) => Promise<PublishedVersions>;
  readonly logger: StreamsLogger;
  readonly nowMs: () => number;
}

/** What a process has while it holds the right to publish. */
export interface OutboxTenure {
  readonly session: OutboxSession;
  readonly producer: OutboxProducer;
  readonly throwIfLost: () => void;
}

/**
 * Takes the right to publish and calls `publish`, which may hold it until a stop. Returns without calling it
 * when another process holds the right; rejects when the right or the broker is lost.
 * @param signal woken at every append, and when the right is lost
 */
export async function whileHeld(
  ports: OutboxPorts,
  signal: Signal,
  publish: (tenure: OutboxTenure) => Promise<void>,
): Promise<void> {
  let lost: Error | null = null;
  const onLost = (error: Error): void => {
    lost = error;
    signal.wake();
  };
  const throwIfLost = (): void => {
    if (lost !== null) throw lost;
  };
  const opened = await ports.openSession({ onAppended: () => signal.wake(), onLost });
  if (opened.type === 'busy') return;
  ports.logger.info('outbox_held');
  const { session } = opened;
  const producer = ports.createProducer();
  try {
    await ports.prepare();
    await producer.init();
    await publish({ session, producer, throwIfLost });
  } finally {
    await Promise.allSettled([producer.close(), session.close()]);
  }
}
