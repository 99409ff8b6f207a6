import type { OpenOutboxSessionResult, OutboxRow, OutboxSessionOptions } from '@waypost/management-store';
import type { OutgoingRecord } from '@waypost/streams';
import type { ApiLogger } from '../dependencies.js';
import type { PublishedVersions } from './published-versions.js';

/** The part of a transactional producer that is needed; after any failure it is closed and another made. */
export interface OutboxProducer {
  init(): Promise<void>;
  commit(transaction: { readonly records: readonly OutgoingRecord[] }): Promise<unknown>;
  close(): Promise<void>;
}

/** What publishing needs of the outside: the table, the topics, a clock. */
export interface OutboxPorts {
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
}
