/** What a `traceparent` says. */
export interface SpanContext {
  readonly traceId: string;
  readonly spanId: string;
  readonly isSampled: boolean;
}

/** A span that has ended. Its ids are those of the trace context that was passed on. */
export interface EndedSpan {
  readonly name: string;
  readonly kind: 'consumer' | 'producer' | 'client';
  /** The span itself. One that is not sampled is not recorded. */
  readonly context: SpanContext | null;
  /** null: the trace begins with this span. */
  readonly parent: SpanContext | null;
  readonly startedAt: number;
  readonly endedAt: number;
  readonly attributes: Readonly<Record<string, string | number | boolean>>;
  readonly isError?: boolean;
}

export interface SpanRecorder {
  /** Never throws, and never waits: what the collector does not take in time is dropped. */
  record(span: EndedSpan): void;
  /** Sends what was recorded. */
  close(): Promise<void>;
}

export abstract class Traces {
  /** null: spans are not exported. Callers ask first, and record sampled traces only, so that being off costs nothing. */
  abstract readonly recorder: SpanRecorder | null;
  /** The share of the traces that begin here which is sampled. */
  abstract readonly sampleRatio: number;
}

export interface MessageOfSpan {
  readonly operation: 'process' | 'create';
  readonly topic: string;
  readonly partition: number;
  readonly offset?: number;
  readonly group?: string;
}

/** Name and attributes by the semantic conventions for messaging. */
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
