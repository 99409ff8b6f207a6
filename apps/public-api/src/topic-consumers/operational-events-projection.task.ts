import { resolveBatch, type SubjectCodec } from '@waypost/contracts';
import { HOUR_MS, type OperationalEvent, RETENTION_MS } from '@waypost/domain';
import { fitsOperationalEvents, type OperationalEventStore, type SubscriptionStore } from '@waypost/management-store';
import { partitionName, type RecordBatch, type StreamsLogger, type TaskContext } from '@waypost/streams';
import { GroupOffsetProjectionTask, type ProjectionDeps } from './group-offset-projection.task.js';

export interface OperationalEventsProjectionDeps extends ProjectionDeps {
  readonly codec: SubjectCodec<OperationalEvent>;
  readonly subscriptions: Pick<SubscriptionStore, 'disable'>;
  readonly events: Pick<OperationalEventStore, 'keep' | 'trim'>;
  readonly logger: Pick<StreamsLogger, 'info' | 'warn' | 'error'>;
  readonly nowMs: () => number;
}

const TRIM_EVERY_MS = HOUR_MS;

/** Keeps the operational events of one partition for the API to show, and disables subscriptions. */
export class OperationalEventsProjectionTask extends GroupOffsetProjectionTask {
  private trimAtMs = 0;

  constructor(
    context: TaskContext,
    private readonly deps: OperationalEventsProjectionDeps,
  ) {
    super(context, deps);
  }

  protected async project(batch: RecordBatch): Promise<void> {
    const events = await this.decode(batch);
    for (const event of events) if (event.type === 'disabled') await this.disable(event);
    await this.retried(() => this.deps.events.keep(events));
    await this.trim();
  }

  idle(): Promise<void> {
    return this.trim();
  }

  /** Rejects (to be tried again) while the schema registry is needed and unavailable. */
  private async decode(batch: RecordBatch): Promise<OperationalEvent[]> {
    await resolveBatch(this.deps.codec, batch.records);
    const events: OperationalEvent[] = [];
    for (const { value, offset } of batch.records) {
      const result = value === null ? { type: 'no_value' as const } : this.deps.codec.decode(value);
      if (result.type === 'decoded' && fitsOperationalEvents(result.value)) events.push(result.value);
      else {
        // We write this log, so this is a bug; but one record must not prevent subscriptions from being disabled.
        const detail = result.type === 'decoded' ? 'an id is not a UUID, or the time is out of range' : result.type;
        this.deps.logger.error('operation_unusable', { partition: partitionName(batch), offset, detail });
      }
    }
    return events;
  }

  private async disable(event: OperationalEvent): Promise<void> {
    const { subscriptions, nowMs, logger } = this.deps;
    const result = await this.retried(() => subscriptions.disable(event, nowMs()));
    const { subscriptionId, fleetId, occurredAt } = event;
    if (result.type === 'changed') logger.warn('subscription_disabled', { subscriptionId, fleetId, occurredAt });
    else logger.info('subscription_not_disabled', { subscriptionId, fleetId, occurredAt, because: result.type });
  }

  /** Forgets what is older than the history: at the first call, and then at most once an hour. */
  private async trim(): Promise<void> {
    const nowMs = this.deps.nowMs();
    if (nowMs < this.trimAtMs) return;
    await this.retried(() => this.deps.events.trim(nowMs - RETENTION_MS));
    this.trimAtMs = nowMs + TRIM_EVERY_MS;
  }
}
