import { join } from 'node:path';
import type { StreamsBackend } from '../backend/backend.js';
import { errorMessage } from '../errors.js';
import type { StreamsLogger } from '../logger.js';
import type { StreamRecord, TopicPartition } from '../record.js';
import type { CheckpointHeader, CheckpointIdentity } from '../state/checkpoint/checkpoint-format.js';
import { readCheckpoint, removeUnfinished } from '../state/checkpoint/checkpoint-reader.js';
import { CheckpointWriter } from '../state/checkpoint/checkpoint-writer.js';
import type { StateStore } from '../state/state-store.js';
import type { Topology } from '../topology/topology.js';

/** A store holds every change that its changelog had before `position`. */
export interface CompleteState {
  readonly position: number;
  /** The topic id of the changelog; null: the cluster has no topic ids. */
  readonly topicId: string | null;
  /** No record before `position` was missed, and no record after it is older than this, epoch ms. */
  readonly asOf: number;
}

export interface StateOptions {
  readonly topology: Pick<Topology, 'applicationId' | 'stores'>;
  readonly backend: StreamsBackend;
  readonly stateDir: string | undefined;
  readonly checkpointIntervalMs: number;
  readonly logger: StreamsLogger;
  readonly now: () => number;
}

interface CheckpointLoad {
  readonly store: StateStore;
  readonly topicId: string | null;
  /** Why the state cannot be used; null: it can. */
  readonly refusal: (state: CompleteState) => string | null;
  readonly prepare: ((records: readonly StreamRecord[]) => Promise<void>) | undefined;
  /** Aborted when the task is closed: the store must not be touched then. */
  readonly closed: AbortSignal;
}

/**
 * The local checkpoint of one store and partition. It only saves time: a checkpoint that does not match is ignored, and
 * the changelog is read in full.
 *
 * Transactions continue between the steps of writing a checkpoint, so its entries are of different moments. Replaying
 * the changelog from the position before the first step corrects that.
 */
export class StoreCheckpoints {
  private readonly path: string;
  private readonly identity: Omit<CheckpointIdentity, 'topicId' | 'format'>;
  private writer: CheckpointWriter | null = null;
  private dueAt: number;
  private writtenAt: number | null = null;

  constructor(
    store: string,
    changelog: TopicPartition,
    stateDir: string,
    private readonly options: StateOptions,
  ) {
    const { topology, checkpointIntervalMs, now } = options;
    const { applicationId } = topology;
    this.identity = { applicationId, store, ...changelog };
    this.path = join(stateDir, fileName(applicationId), `${fileName(store)}-${String(changelog.partition)}.checkpoint`);
    this.dueAt = now() + checkpointIntervalMs;
  }

  /** Call between transactions. Starts a due checkpoint, or writes the next entries of the current one. */
  step(store: StateStore, state: CompleteState): void {
    if (this.writer) this.writer.step();
    else if (this.options.now() >= this.dueAt) this.start(store, state)?.step();
  }

  async finish(store: StateStore, state: CompleteState): Promise<void> {
    await this.abort();
    await this.start(store, state)?.finish();
  }

  async abort(): Promise<void> {
    const { writer } = this;
    this.writer = null;
    await writer?.abort();
  }

  async load(load: CheckpointLoad): Promise<CompleteState | null> {
    const { identity } = this;
    await removeUnfinished(this.path);
    const reading = await readCheckpoint(
      this.path,
      (header) => this.refusal(header, load),
      async (entries) => {
        // Values in changelog format may need the same preparation as its records.
        if (load.store.checkpointFormat === 'changelog-values') await load.prepare?.(entries);
        load.closed.throwIfAborted();
        for (const entry of entries) load.store.load(entry);
      },
    ).catch((error: unknown) => {
      if (load.closed.aborted) throw error;
      return { type: 'unusable' as const, reason: errorMessage(error) };
    });
    if (reading.type === 'unusable')
      this.options.logger.warn('checkpoint_ignored', { ...identity, reason: reading.reason });
    if (reading.type !== 'read') return null;
    const { position, topicId, asOf } = reading.header;
    this.writtenAt = position;
    return { position, topicId, asOf };
  }

  private refusal(header: CheckpointHeader, { store, topicId, refusal }: CheckpointLoad): string | null {
    const { identity } = this;
    const same =
      header.applicationId === identity.applicationId &&
      header.store === identity.store &&
      header.topic === identity.topic &&
      header.partition === identity.partition;
    if (!same) return 'it is of another store';
    if (header.format !== store.checkpointFormat) return 'its values are of another version';
    if (topicId === null) return 'the cluster does not tell one topic from another of the same name';
    if (!Number.isSafeInteger(header.position) || !Number.isSafeInteger(header.asOf)) return 'its header is incomplete';
    return refusal(header);
  }

  private start(store: StateStore, state: CompleteState): CheckpointWriter | null {
    const { identity } = this;
    const { checkpointIntervalMs, logger, now } = this.options;
    this.dueAt = now() + checkpointIntervalMs;
    const { topicId, position, asOf } = state;
    if (topicId === null || position === this.writtenAt) return null;
    const startedAt = now();
    const header = { ...identity, topicId, format: store.checkpointFormat, position, asOf };
    const writer = new CheckpointWriter(this.path, store.scan(), header);
    this.writer = writer;
    void writer.outcome.then((outcome) => {
      if (this.writer === writer) this.writer = null;
      if (outcome.type === 'failed') {
        logger.warn('checkpoint_failed', { ...identity, error: errorMessage(outcome.error) });
      } else if (outcome.type === 'written') {
        this.writtenAt = position;
        const { entries, bytes } = outcome;
        logger.info('checkpoint_written', { ...identity, position, entries, bytes, durationMs: now() - startedAt });
      }
    });
    return writer;
  }
}

function fileName(name: string): string {
  return encodeURIComponent(name).replaceAll('*', '%2A');
}
