import { join } from 'node:path';
import { errorMessage } from '../errors.js';
import type { StreamsLogger } from '../logger.js';
import type { StreamRecord } from '../record.js';
import type { SnapshotHeader, SnapshotIdentity } from '../state/snapshot/snapshot-format.js';
import { readSnapshot, removeUnfinished } from '../state/snapshot/snapshot-reader.js';
import { SnapshotWriter } from '../state/snapshot/snapshot-writer.js';
import type { StateStore } from '../state/state-store.js';

/** A store holds everything that its changelog had before `position`. */
export interface CompleteState {
  readonly position: number;
  /** Of the changelog; null: the cluster gives topics no ids. */
  readonly topicId: string | null;
  /** No record before `position` was missed, and none behind it is older than this, epoch ms. */
  readonly asOf: number;
}

export interface StoreSnapshotsOptions {
  readonly stateDir: string;
  readonly everyMs: number;
  readonly identity: Omit<SnapshotIdentity, 'topicId' | 'format'>;
  readonly logger: StreamsLogger;
  readonly now: () => number;
}

export interface SnapshotLoad {
  readonly store: StateStore;
  readonly topicId: string | null;
  /** Why the state cannot be taken on; null: it can. */
  readonly refusal: (state: CompleteState) => string | null;
  readonly prepare: ((records: readonly StreamRecord[]) => Promise<void>) | undefined;
  /** The task is given up: the store must be left alone. */
  readonly closed: () => boolean;
}

/**
 * The local snapshot of one store and partition. It is an aid and never the truth: one that does not fit is ignored, and
 * the changelog is read whole.
 *
 * A snapshot is written while transactions go on between its steps, so its entries are of different moments. That is
 * mended by replaying the changelog from the position that the store had before the first step.
 */
export class StoreSnapshots {
  private readonly path: string;
  private writer: SnapshotWriter | null = null;
  private dueAt: number;
  /** What the file on disk holds the state of. */
  private writtenAt: number | null = null;

  constructor(private readonly options: StoreSnapshotsOptions) {
    const { stateDir, identity, everyMs, now } = options;
    const { applicationId, store, partition } = identity;
    this.path = join(stateDir, fileName(applicationId), `${fileName(store)}-${String(partition)}.snapshot`);
    this.dueAt = now() + everyMs;
  }

  /** Between transactions. Starts a snapshot that is due, or takes the next entries out for the one that is under way. */
  step(store: StateStore, state: CompleteState): void {
    if (this.writer) this.writer.step();
    else if (this.options.now() >= this.dueAt) this.start(store, state)?.step();
  }

  /** The store stands still from now on. */
  async finish(store: StateStore, state: CompleteState): Promise<void> {
    await this.abort();
    await this.start(store, state)?.finish();
  }

  async abort(): Promise<void> {
    const { writer } = this;
    this.writer = null;
    await writer?.abort();
  }

  async load(load: SnapshotLoad): Promise<CompleteState | null> {
    const { logger, identity } = this.options;
    await removeUnfinished(this.path);
    const reading = await readSnapshot(
      this.path,
      (header) => this.refusal(header, load),
      async (entries) => {
        // What is in the changelog's form may need what the changelog's records need.
        if (load.store.snapshotFormat === 'changelog-values') await load.prepare?.(entries);
        if (load.closed()) throw new Error('The task was closed while it restored.');
        for (const entry of entries) load.store.load(entry);
      },
    ).catch((error: unknown) => {
      if (load.closed()) throw error;
      return { type: 'unusable' as const, reason: errorMessage(error) };
    });
    if (reading.type === 'unusable') logger.warn('snapshot_ignored', { ...identity, reason: reading.reason });
    if (reading.type !== 'read') return null;
    const { position, topicId, asOf } = reading.header;
    this.writtenAt = position;
    return { position, topicId, asOf };
  }

  private refusal(header: SnapshotHeader, { store, topicId, refusal }: SnapshotLoad): string | null {
    const { identity } = this.options;
    const same =
      header.applicationId === identity.applicationId &&
      header.store === identity.store &&
      header.topic === identity.topic &&
      header.partition === identity.partition;
    if (!same) return 'it is of another store';
    if (header.format !== store.snapshotFormat) return 'its values are of another version';
    if (topicId === null) return 'the cluster does not tell one topic from another of the same name';
    if (!Number.isSafeInteger(header.position) || !Number.isSafeInteger(header.asOf)) return 'its header is incomplete';
    return refusal(header);
  }

  private start(store: StateStore, state: CompleteState): SnapshotWriter | null {
    const { everyMs, identity, logger, now } = this.options;
    this.dueAt = now() + everyMs;
    const { topicId, position, asOf } = state;
    if (topicId === null || position === this.writtenAt) return null;
    const startedAt = now();
    const header = { ...identity, topicId, format: store.snapshotFormat, position, asOf };
    const writer = new SnapshotWriter(this.path, store.scan(), header);
    this.writer = writer;
    void writer.outcome.then((outcome) => {
      if (this.writer === writer) this.writer = null;
      if (outcome.type === 'failed') {
        logger.warn('snapshot_failed', { ...identity, error: errorMessage(outcome.error) });
      } else if (outcome.type === 'written') {
        this.writtenAt = position;
        const { entries, bytes } = outcome;
        logger.info('snapshot_written', { ...identity, position, entries, bytes, durationMs: now() - startedAt });
      }
    });
    return writer;
  }
}

const fileName = (name: string): string => encodeURIComponent(name).replaceAll('*', '%2A');
