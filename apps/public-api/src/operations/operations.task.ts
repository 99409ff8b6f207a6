import type { SubjectCodec } from '@waypost/contracts';
import type { OperationalEvent } from '@waypost/domain';
import type { ManagementStore } from '@waypost/management-store';
import { partitionName, type PartitionTask, type RecordBatch, type TaskContext } from '@waypost/streams';
import type { ApiLogger } from '../dependencies.js';
import { decodeOperations } from './decode-operations.js';
import type { UntilDatabaseAnswers } from './until-database-answers.js';

export interface OperationsTaskDeps {
  readonly codec: SubjectCodec<OperationalEvent>;
  readonly store: {
    readonly subscriptions: Pick<ManagementStore['subscriptions'], 'disable'>;
    readonly operations: Pick<ManagementStore['operations'], 'keep'>;
  };
  /** First and next offset of the log itself. */
  readonly logRange: (context: TaskContext) => Promise<{ readonly start: number; readonly end: number }>;
  readonly untilDatabaseAnswers: UntilDatabaseAnswers;
  /** Called often; does something now and then. */
  readonly trim: () => Promise<void>;
  readonly logger: Pick<ApiLogger, 'info' | 'warn' | 'error'>;
  readonly now: () => number;
}

/**
 * Takes one partition of the operational events into the database: keeps them for the API to show, and disables the
 * subscriptions that are to be. The group's offset is the position. After a crash, or when the group has been forgotten,
 * events come again, and change nothing.
 */
export const createOperationsTask = (context: TaskContext, deps: OperationsTaskDeps): PartitionTask =>
  new OperationsTask(context, deps);

class OperationsTask implements PartitionTask {
  private readonly giveUp = new AbortController();

  constructor(
    private readonly context: TaskContext,
    private readonly deps: OperationsTaskDeps,
  ) {}

  async open(): Promise<{ position: number }> {
    const [committed, { start, end }] = await Promise.all([
      this.context.committedOffset(),
      this.deps.logRange(this.context),
    ]);
    // Outside of the log: it has expired, or is another log. Reading from its start does no harm.
    const inLog = committed !== null && committed.offset >= start && committed.offset <= end;
    const position = inLog ? committed.offset : start;
    if (!inLog) await this.context.commitOffset(position);
    return { position };
  }

  async process(batch: RecordBatch): Promise<void> {
    const { events, unusable } = await decodeOperations(batch, this.deps.codec);
    // The log is ours, so this is a bug; but one record must not keep subscriptions from being disabled.
    for (const { offset, detail } of unusable) {
      this.deps.logger.error('operation_unusable', { partition: partitionName(batch), offset, detail });
    }
    for (const event of events) if (event.type === 'disabled') await this.disable(event);
    await this.patiently(() => this.deps.store.operations.keep(events));
    await this.patiently(this.deps.trim);
    await this.context.commitOffset(batch.nextOffset);
  }

  idle(): Promise<void> {
    return this.patiently(this.deps.trim);
  }

  revoke(): void {
    this.giveUp.abort();
  }

  close(): Promise<void> {
    this.giveUp.abort();
    return Promise.resolve();
  }

  private async disable(event: OperationalEvent): Promise<void> {
    const { store, now, logger } = this.deps;
    const result = await this.patiently(() => store.subscriptions.disable(event, now()));
    const { subscriptionId, fleetId, occurredAt } = event;
    if (result.type === 'changed') logger.warn('subscription_disabled', { subscriptionId, fleetId, occurredAt });
    else logger.info('subscription_not_disabled', { subscriptionId, fleetId, occurredAt, because: result.type });
  }

  private patiently<T>(work: () => Promise<T>): Promise<T> {
    return this.deps.untilDatabaseAnswers(work, this.giveUp.signal);
  }
}
