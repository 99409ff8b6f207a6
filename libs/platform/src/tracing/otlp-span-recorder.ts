import { type Context, ROOT_CONTEXT, SpanKind, SpanStatusCode, trace, TraceFlags } from '@opentelemetry/api';
import type { IdGenerator, ReadableSpan, SpanExporter } from '@opentelemetry/sdk-trace';
import { BootError } from '../boot-error.js';
import type { Logger } from '../logging/logger.js';
import type { SpanContext, SpanRecorder } from './span-recorder.js';

export interface OtlpOptions {
  readonly url: string;
  readonly serviceName: string;
  readonly logger: Pick<Logger, 'warn'>;
}

const KINDS = { consumer: SpanKind.CONSUMER, producer: SpanKind.PRODUCER, client: SpanKind.CLIENT } as const;

/**
 * Exports spans by OTLP over HTTP, in batches. The packages for it are optional dependencies, loaded only here.
 *
 * @throws BootError `tracing_not_installed`
 */
export async function openOtlpRecorder({ url, serviceName, logger }: OtlpOptions): Promise<SpanRecorder> {
  const { OTLPTraceExporter, sdk, resources } = await load();
  const ids = new GivenIds();
  const provider = new sdk.TracerProvider({
    idGenerator: ids,
    // A trace is sampled or not where it begins.
    sampler: new sdk.AlwaysOnSampler(),
    resource: resources
      .defaultResource()
      .merge(resources.resourceFromAttributes({ 'service.name': serviceName }))
      .merge(resources.detectResources({ detectors: [resources.envDetector] })),
    spanProcessors: [
      new sdk.BatchSpanProcessor({ exporter: reporting(new OTLPTraceExporter({ url }), logger), ...BATCHES }),
    ],
  });
  const tracer = provider.getTracer('waypost');
  return {
    record({ name, kind, context, parent, startedAt, endedAt, attributes, isError }) {
      if (context?.isSampled !== true) return;
      ids.given = context;
      const options = { kind: KINDS[kind], startTime: startedAt, attributes };
      const span = tracer.startSpan(name, options, contextOf(parent));
      if (isError === true) span.setStatus({ code: SpanStatusCode.ERROR });
      span.end(Math.max(startedAt, endedAt));
    },
    close: () => provider.shutdown(),
  };
}

/** Spans beyond the queue are dropped: a collector that is down costs no more than this memory. */
const BATCHES = { maxQueueSize: 4_096, maxExportBatchSize: 512, scheduledDelayMillis: 1_000 } as const;

/** The SDK asks for ids during the synchronous start of a span. */
class GivenIds implements IdGenerator {
  given: SpanContext | null = null;

  generateTraceId(): string {
    return this.taken().traceId;
  }

  generateSpanId(): string {
    return this.taken().spanId;
  }

  private taken(): SpanContext {
    if (this.given === null) throw new Error('A span was started without its ids.');
    return this.given;
  }
}

function contextOf(parent: SpanContext | null): Context {
  if (parent === null) return ROOT_CONTEXT;
  const { traceId, spanId, isSampled } = parent;
  const traceFlags = isSampled ? TraceFlags.SAMPLED : TraceFlags.NONE;
  return trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId, traceFlags, isRemote: true });
}

/** Logs what the SDK keeps to itself. */
function reporting(exporter: SpanExporter, logger: Pick<Logger, 'warn'>): SpanExporter {
  return {
    export(spans: ReadableSpan[], done) {
      exporter.export(spans, (result) => {
        if (result.error !== undefined)
          logger.warn('spans_not_exported', { count: spans.length, reason: result.error.message });
        done(result);
      });
    },
    shutdown: () => exporter.shutdown(),
    forceFlush: () => exporter.forceFlush?.() ?? Promise.resolve(),
  };
}

async function load() {
  try {
    const [{ OTLPTraceExporter }, sdk, resources] = await Promise.all([
      import('@opentelemetry/exporter-trace-otlp-http'),
      import('@opentelemetry/sdk-trace'),
      import('@opentelemetry/resources'),
    ]);
    return { OTLPTraceExporter, sdk, resources };
  } catch (error) {
    throw new BootError(
      'tracing_not_installed',
      'OTEL_EXPORTER_OTLP_ENDPOINT is set, but the optional packages that export spans are not installed: run npm ci without --omit=optional, or unset it.',
      { cause: error },
    );
  }
}
