import type {
  OpenOutboxSessionResult,
  OutboxRow,
  OutboxSession,
  OutboxSessionOptions,
} from '@waypost/management-store';
import type { OutgoingRecord, StreamsLogger } from '@waypost/streams';
import { isAlreadyPublished, type PublishedVersions } from './published-versions.js';

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
  readonly now: () => number;
}

interface OutboxTenureDeps extends OutboxPorts {
  /** Woken at every append, and when the right is lost. */
  readonly signal: Signal;
  readonly isStopped: () => boolean;
  /** A batch was published. */
  readonly onPublished: () => void;
  readonly pollMs: number;
}

const BATCH_SIZE = 500;
const KEEP_PUBLISHED_MS = 24 * 3_600_000;
const TRIM_EVERY_MS = 3_600_000;

/**
 * The time in which this process holds the right to publish. The function returns when another process holds it, or on
 * a stop; it rejects when the right or the broker is lost.
 */
export function createOutboxTenure(deps: OutboxTenureDeps): () => Promise<void> {
  const { signal, isStopped, onPublished, pollMs } = deps;
  const trim = createTrim(deps.now);

  async function publishAll(session: OutboxSession, producer: OutboxProducer, check: () => void): Promise<void> {
    let caughtUp = false;
    while (!isStopped()) {
      check();
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
  }

  return async () => {
    let lost: Error | null = null;
    const onLost = (error: Error): void => {
      lost = error;
      signal.wake();
    };
    const onAppended = (): void => signal.wake();
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

interface OutboxBatch {
  readonly session: Pick<OutboxSession, 'markPublished'>;
  readonly producer: Pick<OutboxProducer, 'commit'>;
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
  await session.markPublished(ids, ports.now());
  ports.logger.info('outbox_published', { published: due.length, foundPublished: waiting.length - due.length });
}

/** Deletes what was published long ago: at the first call, and then at most once an hour. */
function createTrim(now: () => number): (session: Pick<OutboxSession, 'trim'>) => Promise<void> {
  let trimAtMs = 0;
  return async (session) => {
    if (now() < trimAtMs) return;
    trimAtMs = now() + TRIM_EVERY_MS;
    await session.trim(now() - KEEP_PUBLISHED_MS);
  };
}

/** Lets one loop sleep until it is woken. A wake-up between `arm` and `wait` is not missed. */
interface Signal {
  arm(): void;
  wake(): void;
  /** Resolves on a wake-up since `arm`, or after `ms`. */
  wait(ms: number): Promise<void>;
}

export function createSignal(): Signal {
  let woken = false;
  let resume: (() => void) | null = null;
  return {
    arm() {
      woken = false;
    },
    wake() {
      woken = true;
      resume?.();
    },
    async wait(ms) {
      if (woken) return;
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, ms);
        resume = () => {
          clearTimeout(timer);
          resolve();
        };
      });
      resume = null;
    },
  };
}
