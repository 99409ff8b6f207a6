import { consumerGroups, readTraceHeader } from '@waypost/contracts';
import { parseTraceparent, traceOfProjection, type WebhookAttempt } from '@waypost/domain';
import { messageSpan, type SpanRecorder } from '@waypost/platform';
import type { StreamRecord, TaskContext } from '@waypost/streams';

interface ReadAttempt {
  readonly attempt: WebhookAttempt;
  readonly offset: number;
  readonly traceparent: string;
  readonly readAt: number;
}

/** The spans of attempts that are read and not yet written. Only sampled traces have a header. */
export class ProjectionSpans {
  private open: ReadAttempt[] = [];

  constructor(
    private readonly recorder: SpanRecorder,
    private readonly context: Pick<TaskContext, 'topic' | 'partition'>,
    private readonly nowMs: () => number,
  ) {}

  read({ offset, headers }: StreamRecord, attempt: WebhookAttempt): void {
    const traceparent = readTraceHeader(headers);
    if (traceparent !== null) this.open.push({ attempt, offset, traceparent, readAt: this.nowMs() });
  }

  /** Call when everything that was read is in the database. */
  written(): void {
    const { topic, partition } = this.context;
    const endedAt = this.nowMs();
    for (const { attempt, offset, traceparent, readAt } of this.open.splice(0)) {
      const parent = parseTraceparent(traceparent);
      if (parent === null) continue;
      const group = consumerGroups.historyProjector.id;
      const { name, attributes } = messageSpan({ operation: 'process', topic, partition, offset, group });
      this.recorder.record({
        name,
        kind: 'consumer',
        parent,
        startedAt: readAt,
        endedAt,
        context: parseTraceparent(traceOfProjection(traceparent)),
        attributes: {
          ...attributes,
          'waypost.event.id': attempt.eventId,
          'waypost.fleet.id': attempt.fleetId,
          'waypost.subscription.id': attempt.subscriptionId,
          'waypost.attempt.number': attempt.attempt,
        },
      });
    }
  }
}
