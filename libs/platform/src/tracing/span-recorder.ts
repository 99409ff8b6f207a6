/** The content of a `traceparent`. */
export interface SpanContext {
  readonly traceId: string;
  readonly spanId: string;
  readonly isSampled: boolean;
}

/** A span that has ended. Its ids are those of the trace context that was passed on. */
export interface EndedSpan {
  readonly name: string;
  readonly kind: 'consumer' | 'producer' | 'client';
  /** The span itself; null: not sampled, so not recorded. */
  readonly context: SpanContext | null;
  /** null: the trace begins with this span. */
  readonly parent: SpanContext | null;
  readonly startedAt: number;
  readonly endedAt: number;
  readonly attributes: Readonly<Record<string, string | number | boolean>>;
  readonly isError?: boolean;
}

export interface SpanRecorder {
  /** Never throws or waits: spans that the collector does not take in time are dropped. */
  record(span: EndedSpan): void;
  /** Sends the recorded spans. */
  close(): Promise<void>;
}

export abstract class Traces {
  /** null: spans are not exported. Callers check this first, and record sampled traces only, so that being off costs nothing. */
  abstract readonly recorder: SpanRecorder | null;
  /** The fraction of the traces beginning here that is sampled. */
  abstract readonly sampleRatio: number;
}

export interface MessageOfSpan {
  readonly operation: 'process' | 'create';
  readonly topic: string;
  readonly partition: number;
  readonly offset?: number;
  readonly group?: string;
}

/** Names and attributes follow the semantic conventions for messaging. */
export function messageSpan({ operation, topic, partition, offset, group }: MessageOfSpan): {
  readonly name: string;
  readonly attributes: EndedSpan['attributes'];
} {
  return {
    name: `${operation} ${topic}`,
    attributes: {
      'messaging.system': 'kafka',
      'messaging.operation.name': operation,
      'messaging.operation.type': operation,
      'messaging.destination.name': topic,
      'messaging.destination.partition.id': String(partition),
      ...(offset === undefined ? {} : { 'messaging.kafka.offset': offset }),
      ...(group === undefined ? {} : { 'messaging.consumer.group.name': group }),
    },
  };
}
