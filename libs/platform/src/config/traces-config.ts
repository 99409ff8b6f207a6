import { z } from 'zod';
import { asUrl, withDefault } from './parse-config.js';

export interface TracesConfig {
  readonly serviceName: string;
  /** Where spans are sent by OTLP over HTTP; undefined: nowhere. */
  readonly url: string | undefined;
  /** The fraction of the traces beginning here that is sampled, from 0 to 1. */
  readonly sampleRatio: number;
}

/**
 * OTEL_EXPORTER_OTLP_TRACES_ENDPOINT or OTEL_EXPORTER_OTLP_ENDPOINT, and WAYPOST_TRACE_SAMPLE_RATIO. The exporter reads
 * its other variables itself (OTEL_EXPORTER_OTLP_HEADERS, OTEL_SERVICE_NAME and so on).
 */
export function tracesConfig(serviceName: string): z.ZodType<TracesConfig> {
  return z
    .object({
      OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: withDefault(
        asUrl('http:', 'https:'),
        'the http(s) URL that takes traces by OTLP, for example http://collector:4318/v1/traces',
        undefined,
      ),
      OTEL_EXPORTER_OTLP_ENDPOINT: withDefault(
        asUrl('http:', 'https:'),
        'the http(s) base URL of a collector, for example http://collector:4318',
        undefined,
      ),
      WAYPOST_TRACE_SAMPLE_RATIO: withDefault(asRatio, 'a number from 0 to 1, for example 0.01', 0),
    })
    .transform((env) => ({
      serviceName,
      url: env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT ?? tracesUrlOf(env.OTEL_EXPORTER_OTLP_ENDPOINT),
      sampleRatio: env.WAYPOST_TRACE_SAMPLE_RATIO,
    }));
}

function tracesUrlOf(base: string | undefined): string | undefined {
  return base === undefined ? undefined : `${base.replace(/\/$/, '')}/v1/traces`;
}

function asRatio(text: string): number | undefined {
  const value = text.trim() === '' ? NaN : Number(text);
  return value >= 0 && value <= 1 ? value : undefined;
}
