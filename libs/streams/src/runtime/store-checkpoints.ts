import { join } from 'node:path';
import type { StreamsBackend } from '../backend/backend.js';
import { errorMessage } from '../errors.js';
import type { StreamsLogger } from '../logger.js';
import type { TopicPartition } from '../record.js';
import type { CheckpointHeader, CheckpointIdentity } from '../state/checkpoint/checkpoint-format.js';
import { readCheckpoint, removeUnfinished } from '../state/checkpoint/checkpoint-reader.js';
import { CheckpointWriter } from '../state/checkpoint/checkpoint-writer.js';
import type { StateStore, StoreDefinition } from '../state/state-store.js';
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
  readonly stateDir?: string | undefined;
  readonly checkpointIntervalMs: number;
  readonly logger: StreamsLogger;
  readonly now: () => number;
}

interface CheckpointedStore extends Pick<StoreDefinition<unknown>, 'prepare'> {
  readonly name: string;
  readonly store: StateStore;
  readonly changelog: TopicPartition;
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
  private readonly identity: Omit<CheckpointIdentity, 'topicId'>;
  private writer: CheckpointWriter | null = null;
  private dueAt: number;
  private writtenAt: number | null = null;

  constructor(
    private readonly of: CheckpointedStore,
    stateDir: string,
    private readonly options: StateOptions,
  ) {
    const { topology, checkpointIntervalMs, now } = options;
    const { applicationId } = topology;
    const { name, store, changelog } = of;
    this.identity = { applicationId, store: name, ...changelog, format: store.checkpointFormat };
    this.path = join(stateDir, fileName(applicationId), `${fileName(name)}-${String(changelog.partition)}.checkpoint`);
    this.dueAt = now() + checkpointIntervalMs;
  }

  /** Call between transactions. Starts a due checkpoint, or writes the next entries of the current one. */
  step(state: CompleteState): void {
    if (this.writer) this.writer.step();
    else if (this.options.now() >= this.dueAt) this.start(state)?.step();
  }

  async finish(state: CompleteState): Promise<void> {
    await this.abort();
    await this.start(state)?.finish();
  }

  async abort(): Promise<void> {
    const { writer } = this;
    this.writer = null;
    await writer?.abort();
  }

  /**
   * Loads the checkpoint into the store, which may be left with a part of it where there is none to use.
   * @param refusal why the state cannot be used; null: it can
   * @param closed aborted when the task is closed: the store must not be touched then
   */
  async load(refusal: (state: CompleteState) => string | null, closed: AbortSignal): Promise<CompleteState | null> {
    const { store, prepare } = this.of;
    await removeUnfinished(this.path);
    try {
      const header = await readCheckpoint(
        this.path,
        (found) => this.difference(found) ?? refusal(found),
        async (entries) => {
          // Values in changelog format may need the same preparation as its records.
          if (store.checkpointFormat === 'changelog-values') await prepare?.(entries);
          closed.throwIfAborted();
          for (const entry of entries) store.load(entry);
        },
      );
      this.writtenAt = header?.position ?? null;
      return header;
    } catch (error) {
      closed.throwIfAborted();
      this.options.logger.warn('checkpoint_ignored', { ...this.identity, reason: errorMessage(error) });
      return null;
    }
  }

  private difference(header: CheckpointHeader): string | null {
    if (header.format !== this.identity.format) return 'its values are of another version';
    const isSame = ([name, value]: [string, unknown]): boolean => header[name as keyof CheckpointHeader] === value;
    return Object.entries(this.identity).every(isSame) ? null : 'it is of another store';
  }

  /** Without topic ids it is unknown whether the changelog is another topic of the same name by then. */
  private start({ topicId, position, asOf }: CompleteState): CheckpointWriter | null {
    const { identity } = this;
    const { checkpointIntervalMs, logger, now } = this.options;
    const startedAt = now();
    this.dueAt = startedAt + checkpointIntervalMs;
    if (topicId === null || position === this.writtenAt) return null;
    const writer = new CheckpointWriter(this.path, this.of.store.scan(), { ...identity, topicId, position, asOf });
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
