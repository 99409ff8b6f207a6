import type { OutboxRow, OutboxSession } from '@waypost/management-store';
import type { OutboxPorts, OutboxProducer } from './outbox-ports.js';
import { isAlreadyPublished, type PublishedVersions } from './published-versions.js';

export interface OutboxBatch {
  readonly session: Pick<OutboxSession, 'markPublished'>;
  readonly producer: Pick<OutboxProducer, 'commit'>;
  /** In the order of the outbox. */
  readonly waiting: readonly OutboxRow[];
  /** Some of them may be in the topics although they are not marked: the topics are asked first. */
  readonly uncertain: boolean;
}

type BatchPorts = Pick<OutboxPorts, 'encode' | 'readPublishedVersions' | 'logger' | 'now'>;

/** Brings a batch into the topics in one transaction and marks it. Rejects when it is not known to be both. */
export async function publishBatch(
  ports: BatchPorts,
  { session, producer, waiting, uncertain }: OutboxBatch,
): Promise<void> {
  const versions: PublishedVersions = uncertain ? await ports.readPublishedVersions(waiting) : new Map();
  const due = waiting.filter((row) => !isAlreadyPublished(row, versions));
  if (due.length > 0) await producer.commit({ records: due.map(ports.encode) });
  await session.markPublished(
    waiting.map((row) => row.id),
    ports.now(),
  );
  ports.logger.info('outbox_published', { published: due.length, foundPublished: waiting.length - due.length });
}
