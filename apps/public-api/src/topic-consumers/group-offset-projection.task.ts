import type { DatabaseRetry } from '@waypost/database';
import type { PartitionTask, RecordBatch, StreamsBackend, TaskContext } from '@waypost/streams';

export interface ProjectionDeps {
  readonly backend: Pick<StreamsBackend, 'startOffset' | 'endOffset'>;
  readonly database: Pick<DatabaseRetry, 'run'>;
}

/**
 * Projects one partition of a topic into tables of the database. The group's offset is the position. Records that come
 * again must change nothing: after a crash, or when the group has been forgotten, some or all of them do.
 */
export abstract class GroupOffsetProjectionTask implements PartitionTask {
  private readonly stopping = new AbortController();

  constructor(
    private readonly context: TaskContext,
    private readonly projectionDeps: ProjectionDeps,
  ) {}

  protected abstract project(batch: RecordBatch): Promise<void>;

  async open(): Promise<{ position: number }> {
    const { backend } = this.projectionDeps;
    const [committed, start, end] = await Promise.all([
      this.context.committedOffset(),
      backend.startOffset(this.context),
      backend.endOffset(this.context),
    ]);
    // Outside of the log: the offset has expired, or belongs to another log. Reading from the start does no harm.
    const inLog = committed !== null && committed.offset >= start && committed.offset <= end;
    const position = inLog ? committed.offset : start;
    if (!inLog) await this.context.commitOffset(position);
    return { position };
  }

  async process(batch: RecordBatch): Promise<void> {
    await this.project(batch);
    await this.context.commitOffset(batch.nextOffset);
  }

  revoke(): void {
    this.stopping.abort();
  }

  close(): Promise<void> {
    this.stopping.abort();
    return Promise.resolve();
  }

  /** Repeats work while the database is unavailable, until the partition is revoked. */
  protected retried<T>(work: () => Promise<T>): Promise<T> {
    return this.projectionDeps.database.run(work, this.stopping.signal);
  }
}
